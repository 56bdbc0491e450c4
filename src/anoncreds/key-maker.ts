/**
 * Keys of definitions are made in a process of their own, below the others in priority: the search for primes cannot be interrupted, not even
 * by the end of a thread or of the process that it runs in, and it takes all that a core has.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { DefinitionKeys } from './keys.ts'
import { DefinitionPrivateKey, KeyCorrectnessProof, PrimaryPublicKey } from './model.ts'

const Keys = z.object({
  primary: PrimaryPublicKey,
  privateKey: DefinitionPrivateKey,
  keyCorrectnessProof: KeyCorrectnessProof,
})

/** As `nice` counts: others go first, and it goes on beside them, with a third of what they get. */
const priority = 5

export type KeyMaker = {
  /** Makes a key for attributes, by their names; takes seconds. @throws when its process has ended. */
  make(attrNames: readonly string[]): Promise<DefinitionKeys>
  /** Ends what is under way. */
  close(): void
}

// The bundle has the program beside itself, as the sources have, which run where tsx is installed.
const isSource = import.meta.url.endsWith('.ts')
const program = fileURLToPath(new URL(`./key-process.${isSource ? 'ts' : 'js'}`, import.meta.url))

export function createKeyMaker(): KeyMaker {
  const under = new Set<ChildProcess>()

  return {
    async make(attrNames) {
      const made = fork(program, {
        env: {},
        execArgv: isSource ? ['--import', 'tsx'] : [],
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      under.add(made)
      try {
        lower(made)
        const keys = await new Promise<unknown>((resolve, reject) => {
          made.once('message', resolve)
          made.on('error', reject)
          made.once('exit', (code, signal) =>
            reject(new Error(`the process that makes keys has ended (${signal ?? code})`)),
          )
          made.send([...attrNames])
        })
        return Keys.parse(keys)
      } finally {
        under.delete(made)
        made.kill('SIGKILL')
      }
    },
    close() {
      for (const each of under) each.kill('SIGKILL')
    },
  }
}

function lower({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, priority)
  } catch {
    // It has ended already, which is told elsewhere, or the system does not allow it.
  }
}
