/**
 * The engine of AnonCreds: calculations of a tenth of a second to a second each, in a thread of their own, which starts with the first one and
 * ends when there are none.
 */
import type { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { programOf } from '../base/program.ts'
import { reasonOf } from '../base/reason.ts'
import { createThread, ThreadSpent, type Thread } from '../base/thread.ts'
import type { Outcome, Task } from './anoncreds-worker.ts'
import { findForgedText } from './encode.ts'
import { AnonCredsError } from './error.ts'
import { Credential, CredentialOffer, CredentialRequest, RequestMetadata } from './model.ts'
import type { Operation, Operations } from './operations.ts'
import { Presentation } from './proof-model.ts'

/**
 * JSON in, JSON out, of `model.ts` and `proof-model.ts`; what comes from others must have been parsed with these.
 *
 * All functions throw `AnonCredsError` with the library's reason, and `Problem` `error:ServiceUnavailable` when too much waits or one takes too long.
 */
export type Engine = {
  readonly [Name in Exclude<Operation, 'createLinkSecret' | 'createNonce'>]: (
    input: Operations[Name][0],
  ) => Promise<Operations[Name][1]>
} & {
  /** A new link secret, decimal. */
  createLinkSecret(): Promise<string>
  /** A new nonce, decimal, of 80 bits. */
  createNonce(): Promise<string>
  /** Ends the thread; what waits is refused. */
  close(): Promise<void>
}

export type EngineLimits = { timeMs: number; waiting: number; idleMs: number }

const limits: EngineLimits = { timeMs: 60_000, waiting: 200, idleMs: 60_000 }

/** Makes an engine; nothing is loaded yet. */
export function createEngine(change: Partial<EngineLimits> = {}): Engine {
  const thread = createThread<Task, Outcome>({
    ...limits,
    ...change,
    name: 'anoncreds',
    program: programOf(import.meta.url, 'anoncreds-worker'),
    tooMany: 'Too many calculations of AnonCreds wait. Try again in a few seconds.',
  })

  async function ask<Name extends Operation>(
    operation: Name,
    input: Operations[Name][0],
    type?: z.ZodType,
  ): Promise<Operations[Name][1]> {
    const outcome = await perform(thread, { operation, input } as Task)
    return (type ? type.parse(outcome) : outcome) as Operations[Name][1]
  }

  return {
    createLinkSecret: () => ask('createLinkSecret', {}),
    createNonce: () => ask('createNonce', {}),
    createOffer: (input) => ask('createOffer', input, CredentialOffer),
    async createRequest(input) {
      const { request, metadata } = await ask('createRequest', input)
      return { request: CredentialRequest.parse(request), metadata: RequestMetadata.parse(metadata) }
    },
    createCredential: (input) => ask('createCredential', input, Credential),
    processCredential: (input) => ask('processCredential', input, Credential),
    createPresentation: (input) => ask('createPresentation', input, Presentation),
    async verifyPresentation(input) {
      const forged = findForgedText(input.presentation)
      if (forged !== undefined)
        throw new AnonCredsError(`the text that is shown for ${forged} is not the one that was signed`)
      return ask('verifyPresentation', input)
    },
    close: () => thread.close(true),
  }
}

async function perform(thread: Thread<Task, Outcome>, task: Task): Promise<unknown> {
  try {
    const outcome = await thread.ask(task)
    if ('output' in outcome) return outcome.output
    if ('refused' in outcome) throw new AnonCredsError(toReason(outcome.refused))
    await thread.close()
    throw new AnonCredsError('the library of AnonCreds cannot make anything of it', {
      cause: new Error(outcome.broken),
    })
  } catch (error) {
    if (!(error instanceof ThreadSpent)) throw error
    // What is calculated with is bounded when it is read: it is the machine that is too slow for now.
    const detail = 'A calculation of AnonCreds took too long. Try again in a minute.'
    throw new Problem('error:ServiceUnavailable', detail, { cause: error, retryAfter: 60 })
  }
}

/** The library's message in one line: an error stands on the first, its causes on those after it. */
function toReason(message: string): string {
  const lines = message
    .split('\n')
    .map((line) => line.replace(/^(?:AnoncredsError\s+)?(?:(?:Error|Caused by):)?\s*/, '').trim())
  return reasonOf(lines.filter((line) => line !== '').join(': '))
}
