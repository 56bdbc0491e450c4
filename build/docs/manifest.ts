/** The commands and topics of the command line, from oclif.manifest.json and package.json. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'

const Flag = z.object({
  name: z.string(),
  char: z.string().optional(),
  type: z.enum(['boolean', 'option']),
  description: z.string().optional(),
  multiple: z.boolean().optional(),
  options: z.array(z.string()).optional(),
  required: z.boolean().optional(),
  default: z.unknown().optional(),
  helpValue: z.string().optional(),
  helpGroup: z.string().optional(),
  hidden: z.boolean().optional(),
  allowNo: z.boolean().optional(),
})
export type Flag = z.infer<typeof Flag>

const Command = z.object({
  id: z.string(),
  summary: z.string().optional(),
  description: z.string().optional(),
  examples: z.array(z.string()).default([]),
  args: z.record(
    z.string(),
    z.object({
      name: z.string(),
      description: z.string().optional(),
      required: z.boolean().optional(),
      options: z.array(z.string()).optional(),
    }),
  ),
  flags: z.record(z.string(), Flag),
  hidden: z.boolean().optional(),
})
export type Command = z.infer<typeof Command>

/** Returns all commands. */
export function readCommands(): Command[] {
  const { commands } = z
    .object({ commands: z.record(z.string(), Command) })
    .parse(JSON.parse(readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8')))
  return Object.values(commands)
}

const Package = z.object({
  description: z.string(),
  oclif: z.object({ topics: z.record(z.string(), z.object({ description: z.string() })) }),
})

const { description, oclif } = Package.parse(
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')),
)

/** One sentence about the program. */
export const summary = description

/** Descriptions of the topics, by name, such as `tenant:key`. */
export const topics: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(oclif.topics).map(([name, topic]) => [name, topic.description]),
)
