/** The topics of the command line, as package.json has them. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'

const Package = z.object({
  description: z.string(),
  oclif: z.object({ topics: z.record(z.string(), z.object({ description: z.string() })) }),
})

const { description, oclif } = Package.parse(
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')),
)

/** What the program is, in a sentence. */
export const summary = description

/** By name, such as `tenant:key`, what the topic is about. */
export const topics: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(oclif.topics).map(([name, topic]) => [name, topic.description]),
)
