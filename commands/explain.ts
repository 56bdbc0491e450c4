/** `agent explain` */
import * as Args from '@oclif/core/args'
import { nearest } from '../cli/errors/nearest.ts'
import { UsageError } from '../cli/errors/errors.ts'
import { explanations, findExplanations, kinds, names, type Explanation } from '../cli/explain/find.ts'
import { fields } from '../cli/format/table.ts'
import { pad, widthOf } from '../cli/format/width.ts'
import { wrap } from '../cli/format/wrap.ts'
import { PlainCommand } from '../cli/plain.ts'

export default class Explain extends PlainCommand {
  static override summary = 'Explain an error, an exit code or a state: what happened, why, and what to do'
  static override description =
    'Works without a daemon. Takes the type of a problem or the last part of it, an exit code, the state of a record, or the code of a DIDComm problem report; without one, lists what there is.'
  static override examples = [
    '<%= config.bin %> explain InvalidStateForOperation',
    '<%= config.bin %> explain OfferReceived',
    '<%= config.bin %> explain 7',
    '<%= config.bin %> explain e.p.trust.credential-refused',
    '<%= config.bin %> explain exit-codes',
  ]
  static override args = {
    subject: Args.string({
      ignoreStdin: true,
      description: `an error, an exit code or a state; ${Object.keys(kinds).join(', ')} for all of a kind`,
    }),
  }

  async run() {
    const { args } = await this.parse(Explain)
    const contents = args.subject === undefined ? [...explanations] : findExplanations(args.subject)
    if (contents.length === 0)
      throw new UsageError(
        `There is nothing to explain of ${JSON.stringify(args.subject)}.${hint(args.subject!)}`,
        'agent explain',
      )
    const isKind = args.subject === undefined || args.subject.toLowerCase() in kinds
    if (!isKind) this.log(contents.map((each) => this.#whole(each)).join('\n\n'))
    else this.log(this.#inShort(contents))
    return { contents }
  }

  #whole({ kind, name, topic, status, exitCode, what, why, do: remedy }: Explanation): string {
    const about = [
      topic,
      status !== undefined && `status ${status}`,
      kind === 'problem' && `exit code ${exitCode}`,
    ].filter(Boolean)
    const head = kind === 'exit-code' ? `exit code ${name}` : name
    const columns = this.width === undefined ? undefined : Math.max(this.width - 16, 20)
    const texts = [
      ['What happened', what],
      ['Why', why],
      ['What to do', remedy],
    ] as const
    const lines = texts.flatMap(([title, text]) =>
      wrap(text, columns).map((line, index) => `  ${pad(index === 0 ? title : '', 13)}  ${line}`),
    )
    return [
      `${this.paint('strong', head)}${about.length > 0 ? `  (${about.join(', ')})` : ''}`,
      ...lines,
    ].join('\n')
  }

  #inShort(contents: readonly Explanation[]): string {
    const parts = Object.entries(kinds).map(([title, kind]) => ({
      title,
      rows: contents.filter((each) => each.kind === kind),
    }))
    return parts
      .filter(({ rows }) => rows.length > 0)
      .map(({ title, rows }) => `${this.paint('strong', title.toUpperCase())}\n${this.#list(rows)}`)
      .join('\n\n')
  }

  #list(rows: readonly Explanation[]): string {
    const shown = rows.map(({ name, topic, what }): [string, string] => [
      topic === undefined ? name : `${topic} ${name}`,
      what,
    ])
    const longest = Math.max(...shown.map(([name]) => widthOf(name)))
    // Beside a long name there is no room for words.
    if (this.width !== undefined && longest > this.width / 2)
      return shown
        .map(([name, what]) => [name, ...wrap(what, this.width! - 4).map((line) => `    ${line}`)].join('\n'))
        .join('\n')
    return fields(shown, undefined)
  }
}

function hint(given: string): string {
  const near = nearest(given, names())
  return near === undefined ? '' : ` Did you mean ${near}?`
}
