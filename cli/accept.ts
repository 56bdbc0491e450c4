/** `agent accept`: answers whatever another agent asks, by the way of its kind. */
import * as Flags from '@oclif/core/flags'
import { acceptConnection, acceptOffer, onlySubject, receiveOffer, receiveRequest } from './accept-didcomm.ts'
import { answerFlags, signIn, submitDid } from './answer-request.ts'
import { createDid } from './client/new-did.ts'
import { findSubjects, needsSubject } from './client/subjects.ts'
import type { Context, FlagValues } from './define-command.ts'
import { CommandError, UsageError } from './errors/errors.ts'
import { credentialFields } from './format/records.ts'
import { fields } from './format/table.ts'
import { aboutLines, type Incoming, type Purpose, readIncoming, requestIn } from './incoming.ts'
import { readTimeout } from './input/time.ts'
import { receiveCredential, receiveFlags, requireConsent } from './oid4vci-receive.ts'
import { credentialFlag, presentTo } from './present.ts'
import { canAsk, confirm } from './prompts/ask.ts'
import { whichDid, whichSubject } from './prompts/questions.ts'

export const acceptFlags = {
  ...answerFlags,
  label: Flags.string({ description: 'connection: its local name; it is not sent' }),
  did: Flags.string({
    description:
      'DID of the wallet: the subject of an offered credential, or the answer to a DID request or a challenge; default: the only one, or a new one: a did:peer for a DID request',
  }),
  credential: credentialFlag,
  'tx-code': receiveFlags['tx-code'],
  configuration: receiveFlags.configuration,
  open: receiveFlags.open,
  explain: Flags.boolean({ description: 'OpenID4VC: show each request and check of the wallet' }),
  timeout: Flags.string({
    description: 'how long to wait until it is done: 30s, 10m, 2h; default: 5m',
  }),
}

type AcceptContext = Context<{ link: string }, FlagValues<typeof acceptFlags>>

/**
 * Reads what the argument is, says so, asks for consent, and answers it. Offers and requests are received
 * first, because the person must see them to consent; one that is declined is rejected.
 */
export async function acceptAnything(context: AcceptContext): Promise<object> {
  const { args, flags, call, say, isQuiet } = context
  readTimeout(flags)
  const incoming = await readIncoming(call, args.link)
  if (!isQuiet) for (const line of aboutLines(incoming)) say(line)
  requireConsent(context)
  return ways[incoming.purpose](context, incoming)
}

const ways: Readonly<Record<Purpose, (context: AcceptContext, incoming: Incoming) => Promise<object>>> = {
  connection: async (context, incoming) => {
    await consent(context, 'Connect?')
    return acceptConnection(waiting(context), incoming, { label: context.flags.label })
  },
  offer: acceptDidCommOffer,
  request: async (context, incoming) => presentTo(context, await receiveRequest(context, incoming)),
  'did-request': (context, incoming) => submitDid(context, incoming, context.flags.did),
  challenge: async (context, incoming) => signIn(context, incoming, await signingDid(context)),
  'openid4vci-offer': receiveCredential,
  'openid4vp-request': async (context, incoming) =>
    presentTo(
      context,
      await context.call('POST /present-proof/presentations/openid4vp/requests', {
        body: { authorizationRequest: requestIn(incoming) },
      }),
    ),
}

/** Waits until it is done. */
const waiting = (context: AcceptContext) => ({ ...context, flags: { ...context.flags, wait: '' } })

async function consent({ flags }: AcceptContext, question: string): Promise<void> {
  if (!flags.yes) await confirm(question)
}

async function acceptDidCommOffer(context: AcceptContext, incoming: Incoming) {
  const { call, flags, say, isQuiet } = context
  const offered = await receiveOffer(context, incoming)
  const path = { recordId: offered.recordId }
  const shown = credentialFields(offered).filter(([name]) => !hidden.has(name))
  if (!isQuiet) for (const line of fields(shown).split('\n')) say(`  ${line}`)
  try {
    await consent(context, 'Accept this credential?')
  } catch (error) {
    await call('POST /issue-credentials/records/{recordId}/reject-offer', { path })
    throw error
  }
  const again = `agent credential accept ${offered.recordId}`
  const subjectId = flags.did ?? (await named(again, () => subjectOf(context, offered)))
  return acceptOffer(waiting(context), offered.recordId, { subjectId })
}

/** Fields of a record that an offer does not need. */
const hidden = new Set('credential,role,state,expires,offered by,thread,created,updated,goal'.split(','))

/** The subject of the credential. A wallet without a DID gets one. */
async function subjectOf(context: AcceptContext, offered: Awaited<ReturnType<typeof receiveOffer>>) {
  if (needsSubject(offered) && (await findSubjects(context.call)).length === 0) {
    const did = await createDid(context.call)
    if (!context.isQuiet) context.say(`The wallet had no DID for the credential. Made: ${did}`)
    return did
  }
  if (!canAskHere(context)) return onlySubject(context, offered, '--did')
  const [answer] = await whichSubject.ask({ call: context.call, given: { id: offered.recordId } })
  return answer?.replace(/^--subject=/, '') ?? onlySubject(context, offered, '--did')
}

/** Runs a step after an offer was received. Its error names the command that continues. */
async function named<T>(command: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new CommandError(`${error.message} The offer is received.`, 2, `${command} --subject <did>`)
  }
}

/** The DID to sign in with: the only one, or the one that the person chooses. */
async function signingDid({ call, flags, ...context }: AcceptContext): Promise<string> {
  if (flags.did !== undefined) return flags.did
  const [only, ...more] = await findSubjects(call)
  if (only && more.length === 0) return only.did
  if (only && canAskHere(context))
    return (await whichDid('Sign in with which DID?').ask({ call, given: {} }))[0]!
  throw new UsageError(
    'Name the DID to sign in with: --did, the one that the other side knows.',
    'agent did list',
  )
}

function canAskHere({ isJson, isQuiet }: Pick<AcceptContext, 'isJson' | 'isQuiet'>): boolean {
  return canAsk({ json: isJson, quiet: isQuiet })
}
