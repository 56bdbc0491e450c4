/** What commands have that put an operation of a DID on the ledger: they may wait until the ledger has judged it. */
import { setTimeout } from 'node:timers/promises'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from './base-command.ts'
import type { Answer } from './client/api.ts'
import { CommandError } from './errors/errors.ts'
import { shownDid, nextForDid, type Did } from './format/did.ts'
import { readSeconds } from './input/time.ts'

/** The flags of waiting; `dependsOn` names the flag without which there is nothing to wait for. */
export function waitFlags(dependsOn: string[] = []) {
  return {
    wait: Flags.boolean({ dependsOn, description: 'wait until the ledger has judged it' }),
    timeout: Flags.string({
      dependsOn: ['wait'],
      description: 'how long to wait: 30s, 10m, 2h; 5m when left out',
    }),
  }
}

export type Operation = Answer<'POST /did-registrar/dids/{didRef}/updates'>
export type Waiting = { wait?: boolean; timeout?: string | undefined }

/** What is done, for people, and whether the ledger, when it is done with it, has accepted it. */
type Kind = { done: string; isAccepted: (did: Did) => boolean }

/** A later failure than the operation's own cannot be there: the one before is forgotten when an operation begins. */
export const kinds = {
  publication: { done: 'published', isAccepted: ({ status }) => status === 'PUBLISHED' },
  change: { done: 'changed', isAccepted: ({ metaLastFailure }) => metaLastFailure?.status !== 422 },
  deactivation: { done: 'deactivated', isAccepted: ({ metaLastFailure }) => metaLastFailure?.status !== 422 },
} satisfies Record<string, Kind>

const longestWaitMs = 1_000

export abstract class OperatingCommand extends AgentCommand {
  /** How long to wait, in seconds; not at all when nothing is said. Asked before anything is done. @throws {UsageError} */
  protected patience({ wait, timeout = '5m' }: Waiting): number | undefined {
    return wait ? readSeconds('timeout', timeout) : undefined
  }

  /**
   * Prints what has come of an operation, and returns it: that the ledger has it, or, after a wait of at most `seconds`, the DID too.
   *
   * @throws {CommandError} 6 when the ledger has not judged it by then, 1 when it has rejected it.
   */
  protected async follow<Made extends Operation>(
    made: Made,
    kind: Kind,
    seconds: number | undefined,
  ): Promise<Made & Partial<Did>> {
    const { id, didRef } = made.scheduledOperation
    const isAtOnce = didRef.startsWith('did:web:')
    const shown = seconds === undefined ? undefined : await this.#judged(id, didRef, kind, seconds)
    this.print(didRef, [
      ['did', didRef],
      ['operation', id],
      ['state', shown ? shownDid(shown) : isAtOnce ? kind.done : 'on its way to the ledger'],
    ])
    this.suggest(shown ? nextForDid(shown) : `agent did show ${didRef}`)
    return { ...made, ...shown }
  }

  async #judged(id: string, didRef: string, kind: Kind, seconds: number): Promise<Did> {
    const until = performance.now() + seconds * 1_000
    const hint = `agent did show ${didRef}`
    for (let waitMs = 20; ; waitMs = Math.min(waitMs * 1.5, longestWaitMs)) {
      const shown = await this.call('GET /did-registrar/dids/{didRef}', { path: { didRef } })
      const { pendingOperation, metaLastFailure } = shown
      if (pendingOperation !== id) {
        if (kind.isAccepted(shown)) return shown
        throw new CommandError(
          `The DID is not ${kind.done}. ${metaLastFailure?.detail ?? ''}`.trim(),
          1,
          hint,
        )
      }
      const left = until - performance.now()
      if (left <= 0) {
        const delay = metaLastFailure ? ` ${metaLastFailure.detail}` : ''
        throw new CommandError(
          `The ledger has not judged the operation ${id} in time; it goes on by itself.${delay}`,
          6,
          hint,
        )
      }
      await setTimeout(Math.min(waitMs, left))
    }
  }
}
