/** A disk that is soon full. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Prefix } from './daemon.ts'

/** Whether a user may mount file systems in a namespace of their own. */
export const canMount = process.platform === 'linux' && spawnSync('unshare', ['-rm', 'true']).status === 0

export type SmallDisk = {
  /** Its path inside the namespace, and outside. */
  inside: string
  path: string
  prefix: Prefix
  [Symbol.asyncDispose](): Promise<void>
}

/** A file system of a few megabytes in the mount namespace of a helper process. */
export async function smallDisk(folder: string, megabytes = 6): Promise<SmallDisk> {
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=700 tmpfs "$1" && echo mounted && exec cat`
  const holder = spawn('unshare', ['-rm', 'sh', '-c', script, 'sh', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  return {
    inside: folder,
    path: join(`/proc/${holder.pid}/root`, folder),
    prefix: ['nsenter', '-t', String(holder.pid), '-U', '-m', '--preserve-credentials', '--'],
    async [Symbol.asyncDispose]() {
      holder.stdin.end()
      await once(holder, 'exit')
    },
  }
}

/**
 * Makes the disk read-only for files that are opened from now on; returns what ends that. Files that are open
 * stay writable.
 */
export function makeReadOnly({ inside, prefix }: SmallDisk): () => void {
  const run = (script: string) => {
    const [program, ...rest] = prefix
    execFileSync(program!, [...rest, 'sh', '-c', script, 'sh', inside])
  }
  run('mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"')
  return () => run('umount "$1"')
}

/** Fills a disk with files whose names begin with `name`. */
export function fill(disk: string, name: string): void {
  const [large, small] = [Buffer.alloc(65_536), Buffer.alloc(1)]
  for (const bytes of [large, small]) {
    for (let n = 0; ; n++) {
      try {
        writeFileSync(join(disk, `${name}-${bytes.length}-${n}`), bytes)
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' })
        break
      }
    }
  }
}

/** Deletes the files whose names begin with `filler`. */
export function makeRoom(disk: string): void {
  for (const name of readdirSync(disk)) if (name.startsWith('filler')) rmSync(join(disk, name))
}
