/** The examples of the OpenAPI document. `npm run docs` records them from calls of a real agent. */
import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Key } from './route.ts'

/** Bodies by key of the route: of a request, and of the response to it. */
const Examples = z.record(
  z.string(),
  z.object({ request: z.json().optional(), response: z.json().optional() }),
)

const isSource = import.meta.url.endsWith('.ts')
const file = new URL(isSource ? '../../dist/examples.json' : '../examples.json', import.meta.url)

/** Returns the examples of an operation: none in a build for which none were recorded. */
export function readExamples(): (key: Key) => z.output<typeof Examples>[string] {
  const examples = existsSync(file) ? Examples.parse(JSON.parse(readFileSync(file, 'utf8'))) : {}
  return (key) => examples[key] ?? {}
}
