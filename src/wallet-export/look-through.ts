/** Looks a large database through beside everything else: what SQLite does for that would have everybody wait. */
import { isLarge, startCopier } from '../backup/copier.ts'
import { DamagedFileError } from '../storage/damaged-file-error.ts'
import { openWalletDb } from '../storage/database.ts'
import { notePages } from '../storage/page-sums.ts'

/**
 * Looks the file of a wallet through, which nobody has open, in a thread, and notes the checksums of its pages: with them, it is opened without
 * being looked through. A small one is left to that.
 *
 * @throws {DamagedFileError}, {NewerFileError}
 */
export async function lookThrough(path: string): Promise<void> {
  if (!(await isLarge([path]))) return
  const copier = await startCopier()
  try {
    const [looked] = await copier.copy([{ from: path, to: path, isOpen: false }], () => undefined)
    if (looked!.fault !== undefined) throw new DamagedFileError(path, `is damaged: ${looked!.reason}`)
  } finally {
    await copier.close()
  }
  // What SQLite writes when it opens a file from elsewhere goes past the log.
  await (await openWalletDb(path)).destroy()
  await notePages(path)
}
