/** Traces of threads and DIDs. */
import { traceText } from '../../trace/text.ts'
import { widthOf } from '../../format/width.ts'
import { wrap, type Row } from '../session/details.ts'
import type { Action, Desk } from './action.ts'

/** `T` shows the trace of a thread or a DID, and follows it; no action for an item that has neither. */
export function tracing(id: string | undefined): Action[] {
  return id === undefined ? [] : [{ key: 'T', word: 'trace', run: (desk) => showTrace(desk, id) }]
}

async function showTrace(desk: Desk, id: string): Promise<undefined> {
  const load = async () => {
    const trace = await desk.call('GET /traces/{id}', { path: { id } })
    return (columns: number): Row[] =>
      traceText(trace, { now: Date.now() })
        .split('\n')
        .flatMap((line) => fit(line, columns - 1))
        .map((text, index) => [{ text, style: index === 0 ? 'strong' : undefined }])
  }
  desk.say('Loading the trace …')
  desk.showPage({ title: 'Trace', rows: await load(), reload: load, copied: id })
}

/** Columns of the two times that a step begins with. */
const times = 22

/** A line of a trace, broken where it is too long: a step goes on beside its times. */
function fit(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line]
  const isStep = /^ +[\d.]+ [a-z]+ /.test(line)
  const start = isStep ? times : 2
  return wrap(line.slice(start).trim(), columns - start).map(
    (text, index) => (index === 0 ? line.slice(0, start) : ' '.repeat(start)) + text,
  )
}
