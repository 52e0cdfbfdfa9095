// An application with or without a registered provider of metrics. Reports whether the package has loaded the
// OpenTelemetry API, and the metrics that it created.
import { createRequire } from "node:module";

const require = createRequire(new URL("../../../dist/lib/index.js", import.meta.url));
const names = [];
if (process.argv[2] === "provider") require("@opentelemetry/api").metrics.setGlobalMeterProvider({ getMeter });

const { createSupervisor } = await import("../../../dist/lib/index.js");
await createSupervisor().close();
const isLoaded = Object.keys(require.cache).some((path) => path.includes("@opentelemetry"));
console.log(JSON.stringify({ isLoaded, names }));

function getMeter(meter, version) {
  names.push(`${meter} ${typeof version}`);
  const create = (name) => {
    names.push(name);
    return { addCallback() {} };
  };
  return new Proxy({}, { get: () => create });
}
