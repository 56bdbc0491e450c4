/** A thread that does tasks, one after the other (`thread.ts`). Its first message says that it is ready. */
import { parentPort } from 'node:worker_threads'
import { assess, type Task } from './assess.ts'

parentPort!.on('message', ({ task, units }: { task: Task; units: number }) =>
  parentPort!.postMessage(assess(task, units)),
)
parentPort!.postMessage('ready')
