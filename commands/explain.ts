import { defineLocalCommand, type LocalContext } from '../cli/define-command.ts'
import { UsageError } from '../cli/errors/errors.ts'
import { nearest } from '../src/foundation/nearest.ts'
import {
  explanations,
  findExplanations,
  kinds,
  names,
  type Explanation,
} from '../cli/explain/explanations.ts'
import { fields } from '../cli/format/table.ts'
import { pad, widthOf, wrap } from '../cli/format/text.ts'
import { optionalArgument } from '../cli/input/arguments.ts'

export default defineLocalCommand({
  summary: 'Explain an error, an exit code or a state: what happened, why, and what to do',
  description:
    'Needs no daemon. Takes the type of a problem or its last part, an exit code, the state of a record, or the code of a DIDComm problem report. Without an argument, lists all of them.',
  examples: [
    'agent explain InvalidStateForOperation',
    'agent explain OfferReceived',
    'agent explain 7',
    'agent explain e.p.trust.credential-refused',
    'agent explain exit-codes',
  ],
  args: {
    subject: optionalArgument(
      `an error, an exit code or a state; or a kind: ${Object.keys(kinds).join(', ')}`,
    ),
  },
  async run(context) {
    const { args, log } = context
    const contents = args.subject === undefined ? [...explanations] : findExplanations(args.subject)
    if (contents.length === 0)
      throw new UsageError(
        `There is no explanation of ${JSON.stringify(args.subject)}.${hint(args.subject!)}`,
        'agent explain',
      )
    const isKind = args.subject === undefined || args.subject.toLowerCase() in kinds
    if (!isKind) log(contents.map((each) => explainInFull(context, each)).join('\n\n'))
    else log(summarise(context, contents))
    return { contents }
  },
})

function explainInFull(
  { width, paint }: LocalContext,
  { kind, name, topic, status, exitCode, what, why, do: remedy }: Explanation,
): string {
  const about = [
    topic,
    status !== undefined && `status ${status}`,
    kind === 'problem' && `exit code ${exitCode}`,
  ].filter(Boolean)
  const head = kind === 'exit-code' ? `exit code ${name}` : name
  const columns = width === undefined ? undefined : Math.max(width - 16, 20)
  const texts = [
    ['What happened', what],
    ['Why', why],
    ['What to do', remedy],
  ] as const
  const lines = texts.flatMap(([title, text]) =>
    wrap(text, columns).map((line, index) => `  ${pad(index === 0 ? title : '', 13)}  ${line}`),
  )
  return [`${paint('strong', head)}${about.length > 0 ? `  (${about.join(', ')})` : ''}`, ...lines].join('\n')
}

function summarise(context: LocalContext, contents: readonly Explanation[]): string {
  const parts = Object.entries(kinds).map(([title, kind]) => ({
    title,
    rows: contents.filter((each) => each.kind === kind),
  }))
  return parts
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, rows }) => `${context.paint('strong', title.toUpperCase())}\n${list(context, rows)}`)
    .join('\n\n')
}

function list({ width }: LocalContext, rows: readonly Explanation[]): string {
  const shown = rows.map(({ name, topic, what }): [string, string] => [
    topic === undefined ? name : `${topic} ${name}`,
    what,
  ])
  const longest = Math.max(...shown.map(([name]) => widthOf(name)))
  // There is no room for text beside a long name.
  if (width !== undefined && longest > width / 2)
    return shown
      .map(([name, what]) => [name, ...wrap(what, width - 4).map((line) => `    ${line}`)].join('\n'))
      .join('\n')
  return fields(shown, undefined)
}

function hint(given: string): string {
  const near = nearest(given, names())
  return near === undefined ? '' : ` Did you mean ${near}?`
}
