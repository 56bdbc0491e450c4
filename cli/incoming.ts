/** Reads a request of another agent: from a link, a text, a file or a picture of a QR code. */
import * as Args from '@oclif/core/args'
import type { Client } from '../daemon/client/client.ts'
import type { Answer } from './client/api.ts'
import { CommandError, UsageError } from './errors/errors.ts'
import { safeLine } from './format/text.ts'
import { ago, whenAhead } from './format/time.ts'
import { readGiven } from './input/given.ts'
import { type Question, typed } from './prompts/missing.ts'

/** `text` is what was read. */
export type Incoming = Answer<'POST /invitation'> & { text: string }
export type Purpose = Incoming['purpose']

/** The names of the kinds, as people read them. */
export const titles: Readonly<Record<Purpose, string>> = {
  connection: 'an invitation to connect',
  offer: 'a credential offer of DIDComm',
  request: 'a proof request of DIDComm',
  'did-request': 'a request for a DID',
  challenge: 'a challenge to sign in',
  'openid4vci-offer': 'a credential offer of OpenID4VCI',
  'openid4vp-request': 'a proof request of OpenID4VP',
}

/** The longest text that the daemon reads, in characters. */
const maxLength = 400_000

export const incomingArgument = Args.string({
  required: true,
  ignoreStdin: true,
  description:
    'its link, the text or JSON of its QR code, a picture or a file with it, or - for standard input',
})

export const whichIncoming: Question = {
  ask: async ({ terminal }) => {
    const { askText } = await import('./prompts/ask.ts')
    return [await askText('Paste the link, or the name of a picture:', {}, terminal)]
  },
}

/**
 * Reads what an argument is or names. The daemon recognises it.
 *
 * @throws {UsageError} when it is of another kind than `purposes`; {CommandError} 5 when it has expired
 */
export async function readIncoming(
  call: Client,
  argument: string,
  ...purposes: readonly Purpose[]
): Promise<Incoming> {
  const text = (await readGiven(argument, maxLength)).trim()
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text))
    throw new UsageError(
      `${text} is an id, not a link. A received offer is accepted with agent credential accept <id>, a received request is answered with agent proof present <id>.`,
      `agent trace ${text}`,
    )
  const incoming = await call('POST /invitation', { body: { invitation: text } })
  const { purpose, expiresAt } = incoming
  const [wanted] = purposes
  if (wanted && !purposes.includes(purpose))
    throw new UsageError(`This is ${titles[purpose]}, not ${titles[wanted]}.`, acceptCommand(argument))
  if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.now())
    throw new CommandError(
      `This is ${titles[purpose]} that has expired (${ago(expiresAt, Date.now())}). Ask for a new one.`,
      5,
    )
  return { ...incoming, text }
}

/** The command that answers any kind, with the same argument if it can be typed. */
function acceptCommand(argument: string): string {
  const isTypable = argument.length <= 500 && !/[^\u0020-\u007e]/.test(argument)
  return `agent accept ${isTypable ? typed([argument]) : '-'}`
}

/** Says what it is and who asks, in two or three lines. Texts of others are on one line. */
export function aboutLines({ purpose, sender, goal, expiresAt }: Incoming): string[] {
  const { name, address } = sender
  const who = [name === undefined ? undefined : `“${safeLine(name)}”`, address && `at ${safeLine(address)}`]
  const from = who.filter((each) => each !== undefined).join(', ')
  return [
    `This is ${titles[purpose]}.`,
    `  from     ${from || 'somebody who does not say'} (not verified)`,
    ...(goal === undefined ? [] : [`  purpose  “${safeLine(goal)}”`]),
    ...(expiresAt === undefined ? [] : [`  expires  ${whenAhead(expiresAt, Date.now())}`]),
  ]
}

/** The request of OpenID4VP. Undefined for other kinds. */
export function requestIn({ answer }: Incoming): string | undefined {
  return answer.body['authorizationRequest'] as string | undefined
}
