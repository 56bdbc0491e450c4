/**
 * Database files that are made in memory and written at once: SQLite would wait for the disk many times before a new file has its first row.
 */
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Kysely } from 'kysely'
import { writeNewFile } from '../base/private-file.ts'
import { flushFolder } from '../base/sync-folder.ts'
import { translate } from './fault.ts'
import { removeDatabase } from './files.ts'
import { asKysely } from './kysely.ts'
import { pageSumsPath, toPageSumsFile } from './page-sums-file.ts'
import { sumPages } from './page-sums.ts'
import { openInMemory } from './sqlite.ts'

/** The bytes of a database file with what `fill` writes to it, which is empty before, or has the bytes `from`. */
export async function makeImage<Tables>(
  fill: (db: Kysely<Tables>) => Promise<unknown>,
  from?: Buffer,
): Promise<Buffer> {
  const database = openInMemory(from)
  const db = await asKysely<Tables>(database)
  try {
    await fill(db)
    return database.serialize()
  } finally {
    await db.destroy()
  }
}

/**
 * Writes a database file that is not there yet, 0600, from its bytes, with the checksums of its pages beside it. The file and its name are on the disk
 * when this returns; the checksums, if the power goes at once, are made anew.
 *
 * @throws {Problem} `InsufficientStorage`, or as `node:fs` does; nothing is left of it then.
 */
export async function writeImage(path: string, image: Buffer): Promise<void> {
  // As SQLite leaves a file that has had a log (https://www.sqlite.org/fileformat2.html §1.3.3): the first to open it would else make it so, past the checksums.
  image.set([2, 2], 18)
  try {
    await writeNewFile(path, image)
    writeFileSync(pageSumsPath(path), toPageSumsFile(sumPages(image)), { mode: 0o600 })
    await flushFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') removeDatabase(path)
    throw translate(error, path)
  }
}
