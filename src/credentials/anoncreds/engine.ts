/**
 * The AnonCreds engine. Its operations take a tenth of a second to a second each and run in a worker thread,
 * which starts with the first operation and ends when it is idle.
 */
import type { Config } from '../../foundation/config/config.ts'
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { programOf } from '../../foundation/program.ts'
import { createThread, type Thread, ThreadSpent } from '../../foundation/thread.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { Operation, Operations, Task, TaskResult } from './anoncreds-worker.ts'
import { Credential, CredentialOffer, CredentialRequest, RequestMetadata } from './model.ts'
import { Presentation } from './presentation.ts'

/** The library refused the input. The message is a reason, worded as a part of a sentence. */
export class AnonCredsError extends Error {
  override name = 'AnonCredsError'
}

/**
 * Input and output are the JSON of `model.ts` and `presentation.ts`. Input from others must have been parsed
 * with these.
 *
 * All functions throw `AnonCredsError` with the library's reason, and `Problem` `error:ServiceUnavailable`
 * when too many operations wait or one exceeds the time limit.
 */
export type Engine = {
  readonly [Name in Exclude<Operation, 'createLinkSecret' | 'createNonce'>]: (
    input: Operations[Name][0],
  ) => Promise<Operations[Name][1]>
} & {
  /** A new link secret, decimal. */
  createLinkSecret(): Promise<string>
  /** A new nonce of 80 bits, decimal. */
  createNonce(): Promise<string>
  /** Ends the thread. Waiting operations are refused. */
  close(): Promise<void>
}

const NewRequest = z.object({ request: CredentialRequest, metadata: RequestMetadata })

export type EngineLimits = { timeMs: number; waiting: number; idleMs: number }

const limits: EngineLimits = { timeMs: 60_000, waiting: 200, idleMs: 60_000 }

export function createEngine(change: Partial<EngineLimits> = {}): Engine {
  const thread = createThread<Task, TaskResult>({
    ...limits,
    ...change,
    name: 'anoncreds',
    program: programOf(import.meta.url, 'anoncreds-worker'),
    tooMany: 'Too many AnonCreds operations are waiting. Try again in a few seconds.',
  })

  async function ask<Name extends Operation>(
    operation: Name,
    input: Operations[Name][0],
    type?: z.ZodType,
  ): Promise<Operations[Name][1]> {
    const output = await perform(thread, { operation, input } as Task)
    return (type ? type.parse(output) : output) as Operations[Name][1]
  }

  return {
    createLinkSecret: () => ask('createLinkSecret', {}),
    createNonce: () => ask('createNonce', {}),
    createOffer: (input) => ask('createOffer', input, CredentialOffer),
    createRequest: (input) => ask('createRequest', input, NewRequest),
    createCredential: (input) => ask('createCredential', input, Credential),
    processCredential: (input) => ask('processCredential', input, Credential),
    createPresentation: (input) => ask('createPresentation', input, Presentation),
    verifyPresentation: (input) => ask('verifyPresentation', input),
    close: () => thread.close(true),
  }
}

async function perform(thread: Thread<Task, TaskResult>, task: Task): Promise<unknown> {
  try {
    const result = await thread.ask(task)
    if ('output' in result) return result.output
    if ('refused' in result) throw new AnonCredsError(toReason(result.refused))
    await thread.close()
    throw new AnonCredsError('the AnonCreds library cannot process it', { cause: new Error(result.crashed) })
  } catch (error) {
    if (!(error instanceof ThreadSpent)) throw error
    // The input is bounded when it is parsed, so the machine is overloaded.
    const detail = 'An AnonCreds operation took too long. Try again in a minute.'
    throw new Problem('error:ServiceUnavailable', detail, { cause: error, retryAfter: 60 })
  }
}

/** The library's message in one line. It has the error in the first line and the causes in the others. */
function toReason(message: string): string {
  const lines = message
    .split('\n')
    .map((line) => line.replace(/^(?:AnoncredsError\s+)?(?:(?:Error|Caused by):)?\s*/, '').trim())
  return reasonOf(lines.filter((line) => line !== '').join(': '))
}

/**
 * The operator can turn AnonCreds off.
 *
 * @throws {Problem} 400 `BadRequest` with the title `BadRequest_FeatureDisabled`
 */
export function assertEnabled({ ENABLE_ANONCRED }: Pick<Config, 'ENABLE_ANONCRED'>): void {
  if (!ENABLE_ANONCRED)
    throw new Problem(
      'BadRequest',
      'AnonCreds is disabled. The operator enables it with ENABLE_ANONCRED=true.',
      { title: 'BadRequest_FeatureDisabled' },
    )
}
