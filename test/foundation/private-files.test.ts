/** Folders are created with their parents, or refused with the path at fault, without endless attempts. */
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FolderError, makeFolder } from '../../src/foundation/private-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

function failure(path: string): string {
  try {
    makeFolder(path)
  } catch (error) {
    expect(error).toBeInstanceOf(FolderError)
    return (error as Error).message
  }
  throw new Error(`${path} was made`)
}

test('parents are created for the user alone, and an existing folder is not changed', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'a', 'b', 'c')
  makeFolder(path)
  makeFolder(path)
  for (const name of [path, join(folder.path, 'a')]) expect(statSync(name).mode & 0o777).toBe(0o700)
  symlinkSync(path, join(folder.path, 'link'))
  makeFolder(join(folder.path, 'link', 'd'))
  expect(existsSync(join(path, 'd'))).toBe(true)
})

test.runIf(existsSync('/proc/self'))('a folder in a file system without folders is refused at once', () => {
  for (const path of ['/proc/identity-agent', '/proc/identity-agent/data/deep']) {
    expect(failure(path)).toBe('/proc accepts no new folders')
  }
})

test('the error names a file in the place of the folder or of a parent', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  expect(failure(file)).toBe(`${file} is not a folder`)
  expect(failure(join(file, 'data'))).toBe(`${file} is not a folder`)
  const link = join(folder.path, 'link')
  symlinkSync(join(folder.path, 'nowhere'), link)
  expect(failure(link)).toBe(`${link} is not a folder`)
})

test.skipIf(process.getuid?.() === 0)('the error names a parent without permission', async () => {
  await using folder = await temporaryFolder()
  const closed = join(folder.path, 'closed')
  mkdirSync(closed, { mode: 0o500 })
  expect(failure(join(closed, 'data'))).toContain(`${closed} must be readable and writable`)
  rmSync(closed, { recursive: true })
})
