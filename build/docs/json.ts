/** Writes `docs/reference/json.md`: the output of commands with `--json`. */
import * as z from 'zod'
import { toNotation, type JsonSchema } from './notation.ts'
import { Report, type Shape } from './shape.ts'
import { shapes } from './shapes.ts'

export function jsonPage(): string {
  const schemas = convert()
  const rows = sorted(shapes).map(
    ([id, shape]) => `| \`agent ${id.replaceAll(':', ' ')}\` | ${link(shape)} | ${shape.note ?? ''} |`,
  )
  const sections = Object.entries(schemas).map(
    ([name, schema]) => `### ${name}\n\n\`\`\`ts\n${toNotation(schema)}\n\`\`\``,
  )
  return `${[
    '# Output of `--json`',
    'With `--json`, a command prints one JSON document on standard output: the daemon’s response, unless the table says otherwise. Lists are pages with the items in `contents`. Where the table says *lines*, each line is a document. New releases may add optional fields. They keep existing fields and their meaning.',
    'A command that fails prints an [error](#errors) on standard error, as one line of JSON, and exits with its `exitCode`. `npm run docs` writes this page from the schemas that validate the HTTP API.',
    '```sh\nagent connection list --json | jq -r ".contents[].connectionId"\nagent did create --json | jq -r .did\nagent event tail --json | jq .data\n```',
    '## Commands',
    ['| command | prints | |', '|---|---|---|', ...rows].join('\n'),
    '## Errors',
    `\`\`\`ts\n${toNotation(schemas[nameOf(Report)]!)}\n\`\`\``,
    '## Shapes',
    'TypeScript notation. `?` marks optional fields.',
    ...sections.filter((section) => !section.startsWith(`### ${nameOf(Report)}\n`)),
  ].join('\n\n')}\n`
}

function link({ type, isLines }: Shape): string {
  const name = nameOf(type)
  return `[${name}](#${name.toLowerCase()})${isLines ? ', lines' : ''}`
}

/** Returns the name of a shape. */
export function nameOf(type: z.ZodType): string {
  const { id } = type.meta() ?? {}
  if (id === undefined) throw new TypeError('This shape has no name: add .meta({ id })')
  return id
}

/** Converts all shapes and their parts to JSON Schema, sorted by name. */
function convert(): Record<string, JsonSchema> {
  const types = new Set([...Object.values(shapes).map(({ type }) => type), Report])
  const all = z.object(Object.fromEntries([...types].map((type, index) => [String(index), type])))
  const { $defs = {} } = z.toJSONSchema(all, { io: 'input', unrepresentable: 'any' })
  return Object.fromEntries(sorted(JSON.parse(JSON.stringify($defs)) as Record<string, JsonSchema>))
}

function sorted<Value>(byName: Readonly<Record<string, Value>>): [name: string, value: Value][] {
  return Object.entries(byName).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
