/**
 * The examples of the OpenAPI document, which are read when it is built. `npm run examples` records them from
 * calls of a real agent, and `test/daemon/examples/examples.test.ts` sends them again.
 */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Key } from './route.ts'

/** Bodies by key of the route: of a request, and of the response to it. */
const Examples = z.record(
  z.string(),
  z.object({ request: z.json().optional(), response: z.json().optional() }),
)

/** Returns the examples of an operation. The file is beside this one, in the sources as in the build. */
export function readExamples(): (key: Key) => z.output<typeof Examples>[string] {
  const file = new URL('./examples.json', import.meta.url)
  const examples = Examples.parse(JSON.parse(readFileSync(file, 'utf8')))
  return (key) => examples[key] ?? {}
}
