/**
 * The thread that copies databases (`copier.ts`). Of each turn it holds all files before it copies the first, and says so in between.
 */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { Problem } from '../base/problem.ts'
import { DamagedFileError, toStorageError } from '../storage/file-errors.ts'
import { findDamage, readSchema } from '../storage/inspection.ts'
import { copyClosed, hasNoLog, openSnapshot, type Snapshot } from '../storage/snapshot.ts'
import type { Copied, Task, Told, Turn } from './copier.ts'

const say = (told: Told) => parentPort!.postMessage(told)

/** Holds a file. One that nobody has open is copied at once: SQLite would leave files of its own beside it. */
async function hold({ from, to, isOpen }: Task): Promise<Snapshot | 'copied' | Copied> {
  try {
    if (to === from) return 'copied'
    if (isOpen || !hasNoLog(from)) return openSnapshot(from)
    await copyClosed(from, to)
    return 'copied'
  } catch (error) {
    const fault = toFault(error, from)
    // What else stands in the way of reading a file is about this file, too.
    return fault.fault === 'other' ? { ...fault, fault: 'damaged' } : fault
  }
}

async function finish(held: Snapshot | 'copied', { from, to }: Task): Promise<Copied> {
  try {
    if (held !== 'copied') await held.copyTo(to)
    const damage = findDamage(to)
    if (damage !== undefined) return { fault: 'damaged', reason: `${from} is damaged: ${damage}` }
    return { ...digestOf(to), schema: readSchema(to) }
  } catch (error) {
    return toFault(error, from)
  } finally {
    if (held !== 'copied') held.close()
  }
}

/** An error as it can be told to another thread. */
function toFault(error: unknown, path: string): Extract<Copied, { reason: string }> {
  const known = toStorageError(error, path)
  const reason = (known as Error).message
  if (known instanceof DamagedFileError) return { fault: 'damaged', reason }
  return { fault: known instanceof Problem ? 'full' : 'other', reason }
}

function digestOf(path: string): { bytes: number; sha256: string } {
  const [hash, chunk, file] = [createHash('sha256'), Buffer.alloc(1_048_576), openSync(path, 'r')]
  try {
    for (let count = 1; count > 0;) {
      count = readSync(file, chunk)
      hash.update(chunk.subarray(0, count))
    }
    return { bytes: fstatSync(file).size, sha256: hash.digest('hex') }
  } finally {
    closeSync(file)
  }
}

parentPort!.on('message', async ({ files }: Turn) => {
  const held: (Snapshot | 'copied' | Copied)[] = []
  for (const file of files) held.push(await hold(file))
  say({ is: 'held' })
  const copied: Copied[] = []
  for (const [index, each] of held.entries())
    copied.push(each === 'copied' || 'close' in each ? await finish(each, files[index]!) : each)
  say({ is: 'copied', copied })
})
say({ is: 'ready' })
