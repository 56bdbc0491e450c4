/**
 * New database files, which are built in memory and written at once: SQLite would flush the disk many times
 * for the first rows.
 */
import { dirname } from 'node:path'
import { writeFile } from 'node:fs/promises'
import type { Kysely } from 'kysely'
import { flushFolder, writeNewFile } from '../private-files.ts'
import { toStorageError } from './file-errors.ts'
import { removeDatabase } from './files.ts'
import { asKysely } from './dialect.ts'
import { openInMemory, openToFill } from './sqlite.ts'

/** The bytes of a database after `fill` has written to it. It is empty at first, or has the bytes `from`. */
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
 * Writes the bytes of a database to a new file with mode 0600. The file and its name are on the disk when
 * this returns.
 *
 * @throws {Problem} `InsufficientStorage`, or as `node:fs` does. No part of the file is left then.
 */
export async function writeImage(path: string, image: Buffer): Promise<void> {
  // Mark the file as one in WAL mode (https://www.sqlite.org/fileformat2.html §1.3.3), so that opening it
  // does not have to write to it.
  image.set([2, 2], 18)
  try {
    await writeNewFile(path, image)
    await flushFolder(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') removeDatabase(path)
    throw toStorageError(error, path)
  }
}

/**
 * Writes a new database file (0600) that has the bytes `image` and what `fill` adds in one transaction. Its
 * content may be larger than the memory. It is not in WAL mode, and not flushed to the disk.
 *
 * @throws {Problem} `InsufficientStorage`, or what `fill` throws. A part of the file may be left then.
 */
export async function fillFile<Tables>(
  path: string,
  image: Buffer,
  fill: (tx: Kysely<Tables>) => Promise<unknown>,
): Promise<void> {
  try {
    await writeFile(path, image, { flag: 'wx', mode: 0o600 })
    const db = await asKysely<Tables>(openToFill(path))
    try {
      await db.transaction().execute(fill)
    } finally {
      await db.destroy()
    }
  } catch (error) {
    throw toStorageError(error, path)
  }
}
