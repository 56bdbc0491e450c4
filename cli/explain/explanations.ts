/** The entries of `agent explain`: exit codes, states, problems and problem report codes. */
import { agentProblems, suiteProblems, type Texts } from './agent-problems.ts'
import { problems, type ProblemType } from '../../src/base/problem.ts'
import { exitCodes } from '../errors/errors.ts'
import { exitCodeOf } from '../errors/report.ts'
import { meanings, type Topic } from '../format/states.ts'
import { protocolProblems } from './protocol-problems.ts'

// prettier-ignore
export const reportCodes: Readonly<Record<string, Texts>> = {
  'e.p.req.time.flow-expired': ['The other side took too long.', 'A thread that nobody goes on with ends after a time, which the other side has set.', 'Begin anew: a new invitation, offer or request.'],
  'e.p.req.time.invitation-expired': ['The invitation was answered too late.', 'Its time was over at the inviter.', 'Ask for a new invitation.'],
  'e.p.req.time.message-expired': ['The message came after its `expires_time`.', 'It waited too long on its way, or one of the two clocks is wrong.', 'Send it anew. Compare both clocks.'],
  'e.p.req.invitation-used': ['The invitation was used already.', 'It is for one answer, and somebody has answered before.', 'Ask for a new invitation. If it was not you, tell the inviter.'],
  'e.p.msg.offer-refused': ['The holder’s agent does not take the offer.', 'It cannot be read there, or is of a format that is not known there.', 'The comment of the report names what it is; offer it otherwise.'],
  'e.p.trust.request-refused': ['The issuer does not take the holder’s request.', 'Its proof does not show that the holder has the DID.', 'Ask for a new offer, and accept it with a DID whose keys are in the wallet.'],
  'e.p.trust.credential-refused': ['The holder does not take the credential.', 'It is not what was offered, or does not verify.', 'The comment of the report says why; offer the credential again.'],
  'e.p.msg.request-refused': ['The prover’s agent does not take the request.', 'It cannot be read there, or asks for what is not known there.', 'Ask again, otherwise.'],
  'e.p.msg.presentation-unreadable': ['The verifier cannot read the presentation.', 'It is of another format than was asked for.', 'Present again what was asked for.'],
  'e.p.presentation-verification-failed': ['The presentation does not hold.', 'A credential in it was changed, has expired, is revoked, or is not of whom the verifier trusts.', 'Present another credential; the comment of the report says what did not hold.'],
  'e.p.issuance-abandoned': ['The holder has declined the offer.', 'That is the holder’s to say.', 'Nothing, or offer something else.'],
  'e.p.crypto.message.dejavu': ['This very envelope was taken before.', 'It came twice; somebody may be sending what was overheard.', 'To send a message again, encrypt it anew.'],
  'e.p.req.not_enroll': ['Nobody picks up messages for the recipient at this mediator.', 'The recipient is not enrolled there.', 'The recipient has to enrol, or to give another address.'],
  'e.p.msg.unsupported': ['The message is of a type that is not known there.', 'The other side does not have that protocol, or not that version.', 'Use a protocol that both sides have.'],
  'e.p.me.res.storage': ['The queue of the recipient is full.', 'Too much waits that was not picked up.', 'Try again once the recipient has picked up messages.'],
  'e.m.live-mode-not-supported': ['Messages are not delivered live over this connection.', 'Live delivery needs a WebSocket.', 'Pick up over a WebSocket, or ask for deliveries one by one.'],
  'e.p.req.time': ['Something took too long, or came too soon.', 'A time that the other side has set is over, or it takes so many messages in a time.', 'Begin anew, or wait as long as the report says.'],
  'e.p.req': ['The other side cannot do it in the state it is in.', 'A message came out of turn, or what it needs is not there.', 'Show the record here; begin anew if it has ended.'],
  'e.p.msg': ['The other side does not take the message.', 'It cannot be read there, or something in it is not what it must be.', 'The comment of the report names what it is.'],
  'e.p.trust.crypto': ['A signature or an encryption does not hold.', 'A key is not the one that it must be, or something was changed.', 'Do not rely on what came; begin anew.'],
  'e.p.trust': ['The other side does not trust what came.', 'A proof or a signature does not show what it must show.', 'The comment of the report says why.'],
  'e.p.xfer': ['A message cannot be delivered.', 'The address of the recipient does not answer.', 'See that the agents reach each other: `agent doctor`.'],
  'e.p.did': ['A DID cannot be used.', 'It does not resolve there, or has no key for this.', '`agent did resolve <did>` shows what everybody sees of it.'],
  'e.p.me.res': ['The other side has run out of something.', 'Memory, storage, network or money.', 'Try again later.'],
  'e.p.me': ['Something is wrong at the other side.', 'A fault there, which the message has nothing to do with.', 'Try again later, or tell whoever runs it.'],
  'e.p.legal': ['The other side may not do it by law.', 'That is for its owner to say.', 'Ask its owner.'],
  'e.p': ['The other side has ended the whole thread for an error.', 'The comment of the report says which.', 'Begin anew once it is mended.'],
  'e.m': ['The other side refuses one message, and the thread goes on.', 'The comment of the report says why.', 'Send it otherwise.'],
  'w': ['The other side warns of something; the thread goes on.', 'The comment of the report says of what.', 'Nothing has to be done.'],
}

export type Explanation = {
  kind: 'problem' | 'exit-code' | 'state' | 'report-code'
  name: string
  /** What happened. */
  what: string
  why: string
  /** What to do. */
  do: string
  /** The HTTP status of a problem. */
  status?: number
  /** The exit code of a command that meets the problem. */
  exitCode?: number
  /** What has the state. */
  topic?: Topic
}

/** Every problem has texts; a type without any does not compile. */
const problemTexts: Readonly<Record<ProblemType, Texts>> = {
  ...agentProblems,
  ...protocolProblems,
  ...suiteProblems,
}

/** The names under which all of a kind are found. */
export const kinds = {
  'exit-codes': 'exit-code',
  problems: 'problem',
  states: 'state',
  'report-codes': 'report-code',
} as const satisfies Record<string, Explanation['kind']>

/** The words of ours that `--json` has as the code of an error, and the exit codes that they go with. */
const ownCodes: Readonly<Record<string, string>> = {
  usage: '2',
  daemonunreachable: '7',
  timeout: '6',
  bug: '1',
}

/** All that there is, kind by kind. */
export const explanations: readonly Explanation[] = [
  ...Object.entries(exitCodes).map(([name, [word, what, why, remedy]]): Explanation => {
    return {
      kind: 'exit-code',
      name,
      what: `${word[0]!.toUpperCase()}${word.slice(1)}. ${what}`,
      why,
      do: remedy,
      exitCode: Number(name),
    }
  }),
  ...(Object.entries(meanings) as [Topic, (typeof meanings)[Topic]][]).flatMap(([topic, states]) =>
    Object.keys(states).map((state) => ofState(topic, state)),
  ),
  ...(Object.entries(problemTexts) as [ProblemType, Texts][]).map(
    ([type, [what, why, remedy]]): Explanation => {
      const status = problems[type]
      return {
        kind: 'problem',
        name: type,
        what,
        why,
        do: remedy,
        status,
        exitCode: exitCodeOf({ type, status }),
      }
    },
  ),
  ...Object.entries(reportCodes).map(([name, [what, why, remedy]]): Explanation => {
    return { kind: 'report-code', name, what, why, do: remedy }
  }),
]

/**
 * What a name stands for: a kind, an exit code, a state, a problem's type or the last part of it, or a report's code or the longest
 * beginning of it that is known. Capitals and punctuation do not matter. Several states or types may have one name.
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

/** The names that can be asked for. */
export function names(): string[] {
  return [...new Set([...Object.keys(kinds), ...explanations.flatMap(({ name }) => [name, lastPart(name)])])]
}

/** Another agent's report has codes of its own under those of the specification. */
function byBeginning(code: string): Explanation[] {
  const known = explanations
    .filter(({ kind, name }) => kind === 'report-code' && code.startsWith(`${name}.`))
    .toSorted((a, b) => b.name.length - a.name.length)
  return known.slice(0, 1)
}

function ofState(topic: Topic, state: string): Explanation {
  const { words, next, ends } = meanings[topic][state]!
  const why =
    ends === undefined
      ? next === undefined
        ? 'It is the turn of the other side, or of the daemon.'
        : 'It is your turn.'
      : ends === 0
        ? 'Everything went well.'
        : 'It has come to an end that was not wanted; the record keeps the reason.'
  const wait = `Nothing: it goes on by itself. \`agent ${topic} show <id>\` says where it is, --wait on a command waits for it.`
  const remedy =
    ends === undefined
      ? wait
      : ends === 0
        ? 'Nothing.'
        : `\`agent ${topic} show <id>\` has the reason as its last failure; begin anew.`
  const what = `${words[0]!.toUpperCase()}${words.slice(1)}.`
  return {
    kind: 'state',
    name: state,
    topic,
    what,
    why,
    do: next === undefined ? remedy : `\`${next.replace('{id}', '<id>')}\``,
  }
}

function lastPart(name: string): string {
  return name.split(/[:/]/).at(-1)!
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
