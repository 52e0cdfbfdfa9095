// How often a property is tried. `FUZZ=100 npm test -- property` tries everything a hundred times as often, to find
// what a run of the suite finds once in a thousand times.

/** Options for `fc.assert`. */
export function runs(count: number): { readonly numRuns: number } {
  return { numRuns: Math.ceil(count * Number(process.env.FUZZ ?? 1)) };
}
