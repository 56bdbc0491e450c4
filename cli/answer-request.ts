/** Answers to DID requests and challenges of others, with a DID of the wallet. */
import * as Flags from '@oclif/core/flags'
import type { Answer } from './client/api.ts'
import type { Context } from './define-command.ts'
import { safeLine } from './format/text.ts'
import type { Incoming } from './incoming.ts'
import { confirm, isTerminal } from './prompts/ask.ts'

export const answerFlags = { yes: Flags.boolean({ char: 'y', description: 'do not ask for confirmation' }) }

type Answering = Context<object, { yes: boolean }>

/** Answers a DID request with a DID, or with a new did:peer. */
export async function submitDid(
  context: Answering,
  incoming: Incoming,
  did: string | undefined,
): Promise<Answer<'POST /onboard/answers'>> {
  const didRequest = incoming.didRequest!
  await confirmSender(context, didRequest, didRequest.onboardEndpoint, 'asks for a DID')
  const answered = await context.call('POST /onboard/answers', { body: { didRequest, did } })
  context.print(answered.did!, [
    ['did', answered.did],
    ['from', answered.from],
    ['state', 'handed over'],
  ])
  return answered
}

/** Signs a challenge with a DID. */
export async function signIn(
  context: Answering,
  incoming: Incoming,
  did: string,
): Promise<Answer<'POST /did-authentication/answers'>> {
  const challenge = incoming.challenge!
  await confirmSender(context, challenge, challenge.submissionEndpoint, 'asks you to sign in')
  const answered = await context.call('POST /did-authentication/answers', { body: { challenge, did } })
  context.print(answered.did, [
    ['did', answered.did],
    ['from', answered.from],
    ['state', 'signed in'],
  ])
  return answered
}

/**
 * Prints the sender of a request by its name and address. At a terminal, asks whether to answer.
 *
 * @throws {CommandError} when not.
 */
export async function confirmSender(
  { say, flags }: Answering,
  { from }: { from?: string | undefined },
  endpoint: string,
  wants: string,
): Promise<void> {
  const sender = from === undefined ? 'A sender without a name' : `“${safeLine(from)}”`
  say(`${sender}, at ${new URL(endpoint).origin}, ${wants}.`)
  if (!flags.yes && isTerminal()) await confirm('Answer this request?')
}
