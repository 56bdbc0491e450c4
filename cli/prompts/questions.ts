/** Questions of several commands. Each loads its options when it is asked. */
import { describeCandidates } from '../client/candidates.ts'
import { readNames } from '../client/names.ts'
import { credentialTitle, proofTitle } from '../format/parties.ts'
import { type Candidates, issuerOf, unanswered } from '../format/proof-request.ts'
import { faultOf, UsageError } from '../errors/errors.ts'
import { createPublished } from '../client/new-did.ts'
import { findIssuers, findSubjects, needsSubject, noSubject } from '../client/subjects.ts'
import { explainDid, type Did } from '../format/records.ts'
import { connectionName, shortDid, shortenDids, shortId, shortUrlName } from '../format/text.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'
import {
  expectedStates,
  explain,
  type Expiring,
  isConnected,
  meanings,
  type Topic,
} from '../format/states.ts'
import { ago } from '../format/time.ts'
import { parseIssuer } from '../input/issuers.ts'
import type { Choice } from './ask.ts'
import type { Asking, Question } from './missing.ts'

/** The newest first. */
const query = { limit: 1_000, offset: 0, order: 'desc' } as const

/** A record as an option: its id, role, state, creation time and name. */
type Listed = Expiring & { id: string; role: string; state: string; createdAt: string; name: string }

const lists: Record<Topic, (call: Asking['call']) => Promise<Listed[]>> = {
  connection: async (call) => {
    const { contents } = await call('GET /connections', { query })
    return contents.map((each) => ({ ...each, id: each.connectionId, name: connectionName(each) }))
  },
  credential: async (call) => {
    const { contents } = await call('GET /issue-credentials/records', { query })
    const names = await readNames(call, contents)
    return contents.map((each) => ({
      ...each,
      id: each.recordId,
      state: each.protocolState,
      name: credentialTitle(each, names),
    }))
  },
  proof: async (call) => {
    const { contents } = await call('GET /present-proof/presentations', { query })
    const names = await readNames(call, contents)
    return contents.map((each) => ({ ...each, state: each.status, name: proofTitle(each, names) }))
  },
}

/** Asks for a record, as an argument: one in a state that `command` expects, or any record without `command`. */
export function whichRecord(topic: Topic, command?: string): Question {
  return {
    ask: async ({ call, terminal }) => {
      const all = await lists[topic](call)
      const states = command === undefined ? undefined : expectedStates(command)
      const fitting = all.filter((each) => states?.includes(each.state) ?? true)
      const words = states?.map((state) => meanings[topic][state]!.words).join(', or ')
      if (fitting.length === 0)
        throw new UsageError(
          `There is no ${topic}${words === undefined ? '' : ` to choose: none is in the state “${words}”`}.`,
          `agent ${topic} list`,
        )
      return [
        await choose(
          `Which ${topic}?`,
          fitting.map((each) => toChoice(topic, each)),
          terminal,
        ),
      ]
    },
  }
}

/** Asks for a connection, as `--connection`. */
export const whichConnection: Question = {
  ask: async ({ call, terminal }) => {
    const choices = await connected(call)
    if (choices.length === 0)
      throw new UsageError('There is no connection to choose.', 'agent connection invite')
    return [await choose('Over which connection?', choices, terminal)]
  },
}

/**
 * Asks for a connection, as `--connection`, for an invitation, as `--invitation`, or for a wallet on a phone,
 * as the flag `flag`.
 */
export function toWhomOrWallet(flag: '--oid4vci=' | '--oid4vp'): Question {
  const wallet = {
    value: flag,
    name: `A wallet on a phone (${flag === '--oid4vp' ? 'OpenID4VP' : 'OpenID4VCI'})`,
    hint: 'prints its URL as link and QR code; creates no connection',
  }
  return {
    unless: ['invitation', flag.slice(2).replace('=', '')],
    ask: async ({ call, terminal }) => {
      const invitation = {
        value: '--invitation',
        name: 'Anyone (create an invitation)',
        hint: 'prints its URL; creates no connection',
      }
      const choices = [...(await connected(call)), invitation, wallet]
      return [await choose('Over which connection?', choices, terminal)]
    },
  }
}

async function connected(call: Asking['call']): Promise<Choice<string>[]> {
  const all = await lists.connection(call)
  return all.filter(isConnected).map((each) => toChoice('connection', each, `--connection=${each.id}`))
}

/** Asks for an active DID of the wallet, as the flag `flag` or as an argument. */
export function whichDid(message: string, flag?: string): Question {
  return {
    ask: async ({ call, terminal }) => {
      const { contents } = await call('GET /did-registrar/dids', { query })
      const dids = contents.filter(({ deactivated }) => !deactivated)
      if (dids.length === 0) throw new UsageError('The wallet has no DID to choose.', 'agent did create')
      const did = await chooseDid(message, dids, terminal)
      return [flag === undefined ? did : `--${flag}=${did}`]
    },
  }
}

/** Whether the wallet has an active DID. */
async function hasDid(call: Asking['call']): Promise<boolean> {
  const { contents } = await call('GET /did-registrar/dids', { query })
  return contents.some(({ deactivated }) => !deactivated)
}

/** Asks which of several DIDs issues, as `--issuing-did`, or makes one, if the person agrees. */
export const whichIssuingDid: Question = {
  ask: async (asking) => {
    const { call, terminal } = asking
    const issuers = await findIssuers(call)
    if (issuers.length === 1) return []
    if (await hasDid(call)) return whichDid('Which DID issues it?', 'issuing-did').ask(asking)
    const { askYes } = await import('./ask.ts')
    if (!(await askYes('This wallet has no DID to issue with. Make and publish one?', terminal)))
      throw new UsageError('An issuer needs a DID.', 'agent did create --publish --wait')
    return [`--issuing-did=${await createPublished(call)}`]
  },
}

/**
 * Asks for the subject of a credential, as `--subject`, if there are several. An AnonCreds credential has no
 * subject DID, and one of OpenID4VCI gets a new key.
 */
export const whichSubject: Question = {
  ask: async (asking) => {
    const recordId = String(asking.given['id'])
    const path = { recordId }
    if (!needsSubject(await asking.call('GET /issue-credentials/records/{recordId}', { path }))) return []
    const dids = await findSubjects(asking.call)
    if (dids.length === 0) throw noSubject()
    return dids.length === 1
      ? []
      : [`--subject=${await chooseDid('Which DID is the subject of the credential?', dids, asking.terminal)}`]
  },
}

/**
 * Asks for credentials that match the request `id`, one for each line, as `--credential`. Asks nothing
 * without a choice.
 */
export const whichCredential: Question = {
  ask: async ({ call, given, terminal }) => {
    const path = { presentationId: String(given['id']) }
    const { candidates, lines, choice } = await call(
      'GET /present-proof/presentations/{presentationId}/candidates',
      { path },
    )
    if (choice || candidates.length === 0 || unanswered(lines)) return []
    const chosen = await askCandidates(call, { candidates, lines }, terminal)
    return chosen.map((id) => `--credential=${id}`)
  },
}

/**
 * Asks which of the credentials answer a request, one for each line of several. Returns the ids of their
 * records.
 */
export async function askCandidates(
  call: Asking['call'],
  { candidates, lines }: Pick<Candidates, 'candidates' | 'lines'>,
  terminal?: Asking['terminal'],
): Promise<string[]> {
  const questions =
    lines.length > 1
      ? lines.map(({ schemaId, candidates: ids }) => ({
          message: `Which credential with the schema ${shortUrlName(schemaId)}?`,
          ids,
        }))
      : [{ message: 'Which credential?', ids: candidates.map(({ recordId }) => recordId) }]
  const described = await describeCandidates(call, candidates)
  const chosen = new Set<string>()
  for (const { message, ids } of questions) {
    const choices = described
      .filter(({ recordId }) => ids.includes(recordId))
      .map((each) => ({
        value: each.recordId,
        name: `${each.type}: ${each.line || each.recordId}  (${ago(each.receivedAt, Date.now())})`,
        hint: [
          `${each.recordId}  of ${issuerOf(each)}`,
          ...(each.validUntil === undefined ? [] : [`until ${each.validUntil.slice(0, 10)}`]),
        ].join(', '),
      }))
    chosen.add(choices.length === 1 ? choices[0]!.value : await choose(message, choices, terminal))
  }
  return [...chosen]
}

/** Asks for an issuer to trust, as `--trust-issuer`, or for any, as `--any-issuer`. */
export const whichIssuer: Question = {
  unless: ['any-issuer', 'trusted', 'policy', 'dcql', 'definition'],
  ask: async ({ terminal }) => {
    const { askText } = await import('./ask.ts')
    const message = 'Whose credentials are accepted? The DID of the issuer, or any:'
    const check = (text: string) => faultOf(() => parseIssuer(text))
    const issuers = parseIssuer(await askText(message, { check }, terminal))
    return issuers === 'any' ? ['--any-issuer'] : issuers.map((did) => `--trust-issuer=${did}`)
  },
}

export const whichLabel: Question = {
  ask: async ({ terminal }) => {
    const { askText } = await import('./ask.ts')
    return [await askText('The new label, or Enter to remove it:', { optional: true }, terminal)]
  },
}

function chooseDid(message: string, dids: readonly Did[], terminal: Asking['terminal']): Promise<string> {
  const choices = dids.map((each) => ({
    value: each.did,
    name:
      each.label === undefined ? shortenDids(canonicalDid(each.did)) : `${each.label}  ${shortDid(each.did)}`,
    hint: each.label === undefined ? explainDid(each) : `${canonicalDid(each.did)}  ${explainDid(each)}`,
  }))
  return choose(message, choices, terminal)
}

async function choose(
  message: string,
  choices: readonly Choice<string>[],
  terminal: Asking['terminal'],
): Promise<string> {
  const { askChoice } = await import('./ask.ts')
  return askChoice(message, choices, terminal)
}

function toChoice(topic: Topic, record: Listed, value = record.id): Choice<string> {
  const { id, role, state, createdAt, name } = record
  const age = ago(createdAt, Date.now())
  return {
    value,
    name: `${name}, ${age}`,
    hint: `…${shortId(id)}  ${role}, ${explain(topic, state, record)}`,
  }
}
