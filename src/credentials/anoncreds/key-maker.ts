/**
 * Generates keys in a separate process with lower priority: prime generation occupies a core, and neither the
 * end of its thread nor `process.exit` interrupts it.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { DefinitionKeys } from './keys.ts'
import { DefinitionPrivateKey, KeyCorrectnessProof, PrimaryPublicKey } from './model.ts'

const Keys = z.object({
  primary: PrimaryPublicKey,
  privateKey: DefinitionPrivateKey,
  keyCorrectnessProof: KeyCorrectnessProof,
})

/** The niceness: the process gets a third of the time that others get. */
const niceness = 5

export type KeyMaker = {
  /** Generates a key for attribute names. Takes seconds. @throws when the process ends early. */
  make(attrNames: readonly string[]): Promise<DefinitionKeys>
  close(): void
}

// The entry file is beside this file, in the bundle and in the sources.
const isSource = import.meta.url.endsWith('.ts')
const program = fileURLToPath(new URL(`./key-process.${isSource ? 'ts' : 'js'}`, import.meta.url))

export function createKeyMaker(): KeyMaker {
  const running = new Set<ChildProcess>()

  return {
    async make(attrNames) {
      const child = fork(program, {
        env: {},
        execArgv: isSource ? ['--import', 'tsx'] : [],
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      running.add(child)
      try {
        lowerPriority(child)
        const keys = await new Promise<unknown>((resolve, reject) => {
          child.once('message', resolve)
          child.on('error', reject)
          child.once('exit', (code, signal) => reject(new Error(`the key process ended (${signal ?? code})`)))
          child.send([...attrNames])
        })
        return Keys.parse(keys)
      } finally {
        running.delete(child)
        child.kill('SIGKILL')
      }
    },
    close() {
      for (const child of running) child.kill('SIGKILL')
    },
  }
}

function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // The process has already ended, which `make` reports, or the system does not permit it.
  }
}
