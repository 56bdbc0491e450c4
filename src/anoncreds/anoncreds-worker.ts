/** A thread that calculates, one operation after the other (`engine.ts`). It loads the library with the first one that needs it. */
import { parentPort } from 'node:worker_threads'
import { loadLibrary, type Library } from './library.ts'
import { operations, type Operation, type Operations } from './operations.ts'

export type Task = { [Name in Operation]: { operation: Name; input: Operations[Name][0] } }[Operation]

/** What came of a task: an output; why the library refused; or how its memory was damaged, after which the thread must not be used again. */
export type Outcome = { output: unknown } | { refused: string } | { broken: string }

let loading: Promise<Library> | undefined
const library = () => (loading ??= loadLibrary())

async function perform({ operation, input }: Task): Promise<Outcome> {
  try {
    return { output: await operations[operation](library, input as never) }
  } catch (error) {
    // A panic of the library, or the end of its memory.
    if (error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError'))
      return { broken: String(error) }
    return { refused: error instanceof Error ? error.message : String(error) }
  }
}

parentPort!.on('message', async (task: Task) => parentPort!.postMessage(await perform(task)))
parentPort!.postMessage('ready')
