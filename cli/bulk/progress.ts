/** A progress bar on standard error, for a person. */
import { SingleBar } from 'cli-progress'
import type { Output } from '../output.ts'

export type Progress = { step(): void; end(): void }

export function showProgress({ isJson, isQuiet }: Output, total: number, done: number): Progress {
  if (!process.stderr.isTTY || isJson || isQuiet) return { step: () => undefined, end: () => undefined }
  const bar = new SingleBar({
    format: '{bar} {value} of {total}  {percentage} %  {eta_formatted} left',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    hideCursor: true,
    stream: process.stderr,
  })
  bar.start(total, done)
  return { step: () => bar.increment(), end: () => bar.stop() }
}
