/** The worker thread that copies databases (`copier.ts`). */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { Problem } from '../../foundation/problem.ts'
import { DamagedFileError, toStorageError } from '../../foundation/storage/file-errors.ts'
import { findDamage, readSchema } from '../../foundation/storage/inspection.ts'
import { copyClosed, hasNoLog, openSnapshot, type Snapshot } from '../../foundation/storage/snapshot.ts'
import type { CopyMessage, CopyRequest, CopyResult, CopyTask } from './copier.ts'

const post = (message: CopyMessage) => parentPort!.postMessage(message)

/** Takes a snapshot of a file. A closed file is copied at once, since opening it would create a log beside it. */
async function takeSnapshot({ from, to, isOpen }: CopyTask): Promise<Snapshot | 'copied' | CopyResult> {
  try {
    if (to === from) return 'copied'
    if (isOpen || !hasNoLog(from)) return openSnapshot(from)
    await copyClosed(from, to)
    return 'copied'
  } catch (error) {
    const fault = toFault(error, from)
    // Any other error while reading a file is an error of this file too.
    return fault.fault === 'other' ? { ...fault, fault: 'damaged' } : fault
  }
}

async function finishCopy(held: Snapshot | 'copied', { from, to }: CopyTask): Promise<CopyResult> {
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

/** An error in a form that can be posted. */
function toFault(error: unknown, path: string): Extract<CopyResult, { reason: string }> {
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

parentPort!.on('message', async ({ files }: CopyRequest) => {
  const held: (Snapshot | 'copied' | CopyResult)[] = []
  for (const file of files) held.push(await takeSnapshot(file))
  post({ event: 'snapshots taken' })
  const results: CopyResult[] = []
  for (const [index, each] of held.entries())
    results.push(each === 'copied' || 'close' in each ? await finishCopy(each, files[index]!) : each)
  post({ event: 'copied', results })
})
post({ event: 'ready' })
