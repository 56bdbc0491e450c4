/** The page of a trace. */
import { widthOf } from '../../format/text.ts'
import { traceText } from '../../trace/text.ts'
import { wrap, type Row } from '../session/details.ts'
import type { ActionContext } from './action.ts'

/** Shows and follows the trace of a thread or a DID. */
export async function showTrace(context: ActionContext, id: string): Promise<undefined> {
  const load = async () => {
    const trace = await context.call('GET /traces/{id}', { path: { id } })
    return (columns: number): Row[] =>
      traceText(trace, { now: Date.now() })
        .split('\n')
        .flatMap((line) => fit(line, columns - 1))
        .map((text, index) => [{ text, style: index === 0 ? 'strong' : undefined }])
  }
  context.say('Loading the trace …')
  context.showPage({ title: 'Trace', rows: await load(), reload: load, copied: id })
}

/** Columns of the two times at the start of a step. */
const times = 22

/** Wraps a line of a trace. The text of a step continues beside its times. */
function fit(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line]
  const isStep = /^ +[\d.]+ [a-z]+ /.test(line)
  const start = isStep ? times : 2
  return wrap(line.slice(start).trim(), columns - start).map(
    (text, index) => (index === 0 ? line.slice(0, start) : ' '.repeat(start)) + text,
  )
}
