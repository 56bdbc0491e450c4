/** `docs/json.md`: what commands print with `--json`. */
import { z } from 'zod'
import { toNotation, type JsonSchema } from './notation.ts'
import type { Shape } from './shape.ts'
import { Report, shapes } from './shapes.ts'

export function jsonPage(): string {
  const schemas = convert()
  const rows = sorted(shapes).map(
    ([id, shape]) => `| \`agent ${id.replaceAll(':', ' ')}\` | ${link(shape)} | ${shape.note ?? ''} |`,
  )
  const sections = Object.entries(schemas).map(
    ([name, schema]) => `### ${name}\n\n\`\`\`ts\n${toNotation(schema)}\n\`\`\``,
  )
  return `${[
    '# What `--json` prints',
    'With `--json`, a command prints one JSON document on standard output: the daemon’s answer as it came, unless the table says otherwise. Lists are pages, with what was asked for in `contents`. Where the table says *lines*, each line is a document. Shapes grow by fields that may be left out; a field that is there stays, with its meaning.',
    'A command that fails prints an [error](#errors) on standard error, as one line of JSON, and exits with its `exitCode`. This page is written by `npm run docs`, from what the HTTP API is checked with.',
    '```sh\nagent connection list --json | jq -r ".contents[].connectionId"\nagent did create --json | jq -r .did\nagent event tail --json | jq .data\n```',
    '## Commands',
    ['| command | prints | |', '|---|---|---|', ...rows].join('\n'),
    '## Errors',
    `\`\`\`ts\n${toNotation(schemas[nameOf(Report)]!)}\n\`\`\``,
    '## Shapes',
    'In the notation of TypeScript; `?` marks what may be left out.',
    ...sections.filter((section) => !section.startsWith(`### ${nameOf(Report)}\n`)),
  ].join('\n\n')}\n`
}

function link({ type, isLines }: Shape): string {
  const name = nameOf(type)
  return `[${name}](#${name.toLowerCase()})${isLines ? ', lines' : ''}`
}

/** The name of a shape, by which the page shows it. */
export function nameOf(type: z.ZodType): string {
  const { id } = type.meta() ?? {}
  if (id === undefined) throw new TypeError('A shape has no name: give it .meta({ id })')
  return id
}

/** All shapes and what they are made of, by name in alphabetical order. */
function convert(): Record<string, JsonSchema> {
  const types = new Set([...Object.values(shapes).map(({ type }) => type), Report])
  const all = z.object(Object.fromEntries([...types].map((type, index) => [String(index), type])))
  const { $defs = {} } = z.toJSONSchema(all, { io: 'input', unrepresentable: 'any' })
  return Object.fromEntries(sorted(JSON.parse(JSON.stringify($defs)) as Record<string, JsonSchema>))
}

function sorted<Value>(byName: Readonly<Record<string, Value>>): [name: string, value: Value][] {
  return Object.entries(byName).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
