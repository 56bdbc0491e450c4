/** Names of files that a power cut must not take back. */
import { closeSync, fsync, fsyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const flush = promisify(fsync)

/** Has the names in a folder on the disk when it returns. Windows cannot open folders, nor need to. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** As `syncFolder`, without anybody else waiting for the disk meanwhile. */
export async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    await flush(folder)
  } finally {
    closeSync(folder)
  }
}
