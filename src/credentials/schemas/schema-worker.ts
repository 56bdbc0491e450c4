/**
 * Entry point of the worker thread that evaluates schemas (`claims.ts`). Its first message says that it is
 * ready.
 */
import { parentPort } from 'node:worker_threads'
import { evaluate, type Task } from './evaluation.ts'

parentPort!.on('message', (task: Task) => parentPort!.postMessage(evaluate(task)))
parentPort!.postMessage('ready')
