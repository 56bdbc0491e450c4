/** A command that there is not. */
import type { Interfaces } from '@oclif/core'
import { renderReport, type Report } from './report.ts'
import { nearest, nearestCommand } from './nearest.ts'

/** Says on standard error which command may have been meant, as JSON with `--json`. `id` is what oclif took for the command: words and colons. */
export function reportNotFound(
  config: Pick<Interfaces.Config, 'commands' | 'findTopic' | 'topics'>,
  id: string,
  argv: readonly string[],
): void {
  const words = id.split(':').filter((word) => word !== '')
  const known = config.commands
    .filter(({ hidden }) => !hidden)
    .map((command) => command.id.replaceAll(':', ' '))
  const topic = config.findTopic(words[0] ?? '')
  const topics = config.topics.map(({ name }) => name).filter((name) => !name.includes(':'))
  const near = nearestCommand(words, known) ?? (words.length === 1 ? nearest(words[0]!, topics) : undefined)
  const isTooLong = near !== undefined && words.join(' ').startsWith(`${near} `)
  const report: Report = {
    code: 'Usage',
    title: isTooLong
      ? `agent ${near} takes no argument such as ${words.slice(near.split(' ').length).join(' ')}.`
      : `There is no command agent ${words.join(' ')}.${near === undefined ? '' : ` Did you mean agent ${near}?`}`,
    hint: near === undefined ? `agent help${topic ? ` ${topic.name}` : ''}` : `agent ${near} --help`,
    exitCode: 2,
  }
  process.stderr.write(`${argv.includes('--json') ? JSON.stringify(report) : renderReport(report)}\n`)
}
