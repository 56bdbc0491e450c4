/** What `agent doctor` found, and how it is shown. */
import type { Answer } from '../client/answer.ts'
import { plain, type Paint } from '../format/colour.ts'
import { safeLine } from '../format/safe.ts'
import { pad, widthOf } from '../format/width.ts'

export type Check = Answer<'GET /_system/doctor'>['checks'][number]

const marks = { ok: '✔', warning: '!', failed: '✖' } as const
const styles = { ok: 'good', warning: 'waiting', failed: 'bad' } as const

/** One line for each check, and one more with what mends it. */
export function render(checks: readonly Check[], paint: Paint = plain): string {
  const names = Math.max(...checks.map(({ name }) => widthOf(name)))
  return checks
    .flatMap(({ name, status, detail, hint }) => [
      `${paint(styles[status], marks[status])} ${pad(name, names)}  ${safeLine(detail)}`,
      ...(hint === undefined ? [] : [`  ${pad('', names)}  ${paint('faint', '→')} ${safeLine(hint)}`]),
    ])
    .join('\n')
}
