/** The entries of `agent explain`: exit codes, states, problems and problem report codes. */
import { agentProblems, suiteProblems, type Texts } from './agent-problems.ts'
import { problems, type ProblemType } from '../../src/foundation/problem.ts'
import { exitCodes } from '../errors/errors.ts'
import { exitCodeOf } from '../errors/report.ts'
import { meanings, type Topic } from '../format/states.ts'
import { protocolProblems } from './protocol-problems.ts'

// prettier-ignore
const reportCodes: Readonly<Record<string, Texts>> = {
  'e.p.req.time.flow-expired': ['The other side took too long.', 'The other side ends idle threads after its own time limit.', 'Start again with a new invitation, offer or request.'],
  'e.p.req.time.invitation-expired': ['The invitation was accepted too late.', 'It had expired at the inviter.', 'Ask for a new invitation.'],
  'e.p.req.time.message-expired': ['The message arrived after its `expires_time`.', 'It was delayed, or one of the clocks is wrong.', 'Send it again. Compare both clocks.'],
  'e.p.req.invitation-used': ['The invitation was already used.', 'It can be accepted once, and another agent accepted it.', 'Ask for a new invitation. Tell the inviter if you did not use it.'],
  'e.p.msg.offer-refused': ['The holder’s agent rejected the offer.', 'The offer is not valid or its format is not supported there.', 'The comment of the report has the reason. Change the offer.'],
  'e.p.trust.request-refused': ['The issuer rejected the holder’s request.', 'Its proof does not show that the holder controls the DID.', 'Ask for a new offer, and accept it with a DID whose keys are in the wallet.'],
  'e.p.trust.credential-refused': ['The holder rejected the credential.', 'It differs from the offer, or does not verify.', 'The comment of the report has the reason. Offer the credential again.'],
  'e.p.msg.request-refused': ['The prover’s agent rejected the request.', 'The request is not valid or not supported there.', 'Change the request.'],
  'e.p.msg.presentation-unreadable': ['The verifier cannot read the presentation.', 'Its format differs from the request.', 'Present again in the requested format.'],
  'e.p.presentation-verification-failed': ['The presentation failed verification.', 'A credential was changed, has expired, is revoked, or has an untrusted issuer.', 'The comment of the report has the reason. Present another credential.'],
  'e.p.issuance-abandoned': ['The holder declined the offer.', 'The holder decided so.', 'Nothing, or send another offer.'],
  'e.p.crypto.message.dejavu': ['The envelope was received before.', 'It arrived twice, possibly as a replay attack.', 'To send a message again, encrypt it again.'],
  'e.p.req.not_enroll': ['The mediator does not serve the recipient.', 'The recipient is not registered there.', 'The recipient must register, or use another address.'],
  'e.p.msg.unsupported': ['The message type is not supported there.', 'The other side lacks the protocol or the version.', 'Use a protocol that both sides support.'],
  'e.p.me.res.storage': ['The queue of the recipient is full.', 'Too many messages were not picked up.', 'Try again after the recipient has picked up messages.'],
  'e.m.live-mode-not-supported': ['Live delivery is not available over this connection.', 'Live delivery needs a WebSocket.', 'Pick up over a WebSocket, or request deliveries one by one.'],
  'e.p.req.time': ['A time limit or a rate limit was exceeded.', 'A time limit of the other side has passed, or it received too many messages.', 'Start again, or wait for the time in the report.'],
  'e.p.req': ['The state of the other side does not allow this.', 'A message was out of order, or a requirement is missing.', 'Show the record here. Start again if it has ended.'],
  'e.p.msg': ['The other side rejected the message.', 'The message or a part of it is not valid.', 'The comment of the report has the reason.'],
  'e.p.trust.crypto': ['A signature or an encryption is not valid.', 'A key is wrong, or data was changed.', 'Do not trust the data. Start again.'],
  'e.p.trust': ['The other side does not trust the message.', 'A proof or a signature is not sufficient.', 'The comment of the report has the reason.'],
  'e.p.xfer': ['A message cannot be delivered.', 'The address of the recipient does not answer.', 'Check that the agents reach each other: `agent doctor`.'],
  'e.p.did': ['A DID cannot be used.', 'It does not resolve there, or has no suitable key.', '`agent did resolve <did>` shows its public document.'],
  'e.p.me.res': ['The other side has run out of a resource.', 'Such as memory, storage, network or money.', 'Try again later.'],
  'e.p.me.cannot-complete': ['The other side cannot do its part, and has ended the flow.', 'It cannot make the credential or the presentation, such as with a DID that was deactivated meanwhile.', 'Ask the other side, whose record has the reason, and start again.'],
  'e.p.me': ['The other side has an internal error.', 'The message is not the cause.', 'Try again later, or tell its operator.'],
  'e.p.legal': ['The other side has a legal reason.', 'Its owner decided so.', 'Ask its owner.'],
  'e.p': ['The other side ended the thread because of an error.', 'The comment of the report has the reason.', 'Fix the cause and start again.'],
  'e.m': ['The other side rejected one message. The thread continues.', 'The comment of the report has the reason.', 'Change the message and send it again.'],
  'w': ['The other side sent a warning. The thread continues.', 'The comment of the report has the reason.', 'No action is needed.'],
}

export type Explanation = {
  kind: 'problem' | 'exit-code' | 'state' | 'report-code'
  name: string
  /** What happened. */
  what: string
  why: string
  /** What to do. */
  do: string
  status?: number
  /** The exit code of a command that meets the problem. */
  exitCode?: number
  topic?: Topic
}

/** The texts of every problem. A missing type does not compile. */
const problemTexts: Readonly<Record<ProblemType, Texts>> = {
  ...agentProblems,
  ...protocolProblems,
  ...suiteProblems,
}

/** The names that list all entries of a kind. */
export const kinds = {
  'exit-codes': 'exit-code',
  problems: 'problem',
  states: 'state',
  'report-codes': 'report-code',
} as const satisfies Record<string, Explanation['kind']>

/** Error codes of `--json` that the CLI defines, and their exit codes. */
const ownCodes: Readonly<Record<string, string>> = {
  usage: '2',
  daemonunreachable: '7',
  timeout: '6',
  bug: '1',
}

export const explanations: readonly Explanation[] = [
  ...Object.entries(exitCodes).map(([name, [word, what, why, remedy]]): Explanation => {
    const text = `${capitalize(word)}. ${what}`
    return { kind: 'exit-code', name, what: text, why, do: remedy, exitCode: Number(name) }
  }),
  ...(Object.entries(meanings) as [Topic, (typeof meanings)[Topic]][]).flatMap(([topic, states]) =>
    Object.keys(states).map((state) => ofState(topic, state)),
  ),
  ...(Object.entries(problemTexts) as [ProblemType, Texts][]).map(
    ([type, [what, why, remedy]]): Explanation => {
      const status = problems[type]
      const exitCode = exitCodeOf({ type, status })
      return { kind: 'problem', name: type, what, why, do: remedy, status, exitCode }
    },
  ),
  ...Object.entries(reportCodes).map(([name, [what, why, remedy]]): Explanation => {
    return { kind: 'report-code', name, what, why, do: remedy }
  }),
]

/**
 * Finds entries by name: a kind, an exit code, a state, a problem type or its last part, or a report code or
 * its longest known prefix. Ignores case and punctuation. Several states or types may share a name.
 */
export function findExplanations(given: string): Explanation[] {
  const kind = Object.entries(kinds).find(([name]) => name === given.toLowerCase())?.[1]
  if (kind !== undefined) return explanations.filter((each) => each.kind === kind)
  const wanted = bare(given)
  const exact = explanations.filter(({ name }) => bare(name) === wanted || name === ownCodes[wanted])
  if (exact.length > 0) return exact
  const byLastPart = explanations.filter(
    ({ kind: its, name }) => its === 'problem' && bare(lastPart(name)) === wanted,
  )
  return byLastPart.length > 0 ? byLastPart : byBeginning(given.toLowerCase())
}

/** Returns the names that `findExplanations` accepts. */
export function names(): string[] {
  return [...new Set([...Object.keys(kinds), ...explanations.flatMap(({ name }) => [name, lastPart(name)])])]
}

/** Finds the longest known prefix, because other agents extend the codes of the specification. */
function byBeginning(code: string): Explanation[] {
  const known = explanations
    .filter(({ kind, name }) => kind === 'report-code' && code.startsWith(`${name}.`))
    .toSorted((a, b) => b.name.length - a.name.length)
  return known.slice(0, 1)
}

function ofState(topic: Topic, state: string): Explanation {
  const { words, next, ends } = meanings[topic][state]!
  const [why, remedy] =
    ends === 0
      ? ['The flow succeeded.', 'Nothing.']
      : ends !== undefined
        ? [
            'The flow failed. The record has the reason.',
            `\`agent ${topic} show <id>\` has the reason as its last failure. Start again.`,
          ]
        : [
            next === undefined ? 'The other side or the daemon acts next.' : 'You act next.',
            `Nothing: it continues automatically. \`agent ${topic} show <id>\` shows its state; --wait on a command waits for it.`,
          ]
  return {
    kind: 'state',
    name: state,
    topic,
    what: `${capitalize(words)}.`,
    why,
    do: next === undefined ? remedy : `\`${next.replace('{id}', '<id>')}\``,
  }
}

function capitalize(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`
}

function lastPart(name: string): string {
  return name.split(/[:/]/).at(-1)!
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
