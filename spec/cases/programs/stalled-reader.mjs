// A client that starts a process, reads its first event losslessly, and then asks for nothing more. Usage: URL TOKEN.
import { connect } from "../../../dist/lib/index.js";

const [url, token] = process.argv.slice(2);
const backend = await connect(url, { token });
const started = await backend.start({ argv: ["/usr/bin/seq", "1", "1000000"], onDetach: "keep" });
const reader = started.iterate({ delivery: "lossless" });
await reader.next();
console.log(started.id);
