/** Names of files that a power cut must not take back. */
import { closeSync, fsyncSync, openSync } from 'node:fs'

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
