/** Words for a wait: what it waits for, and what becomes of it when nobody waits any longer. */
import { explain, meanings, nextCommand, type Topic } from './states.ts'

export type Waited = { topic: Topic; id: string; state: string; invitationUrl?: string | undefined }

/** The line at a terminal while a command waits; nothing for a state that is waited for no longer. */
export function waitingLine(waited: Waited, wanted: string, timeout: string): string {
  const { topic, state } = waited
  const words = meanings[topic][state]?.words ?? state
  const what = words.startsWith('waiting ')
    ? words.slice('waiting '.length)
    : `until it is ${meanings[topic][wanted]?.words ?? wanted}`
  return `Waiting ${what}, ${timeout} at most. Ctrl-C stops waiting: ${afterwards(waited)}`
}

/** The sentence after a time-out. */
export function timeoutText(waited: Waited, wanted: string, seconds: number): string {
  const { topic, id, state } = waited
  return `The ${topic} ${id} is in ${explain(topic, state)} after ${seconds} s, and not yet in ${wanted}; ${afterwards(waited)}`
}

/** Says what continues when the command stops waiting: the invitation, the flow, or nothing before the next command. */
function afterwards({ topic, id, state, invitationUrl }: Waited): string {
  if (state === 'InvitationGenerated') {
    const end = expiryOf(invitationUrl)
    return `the invitation stays valid${end === undefined ? '' : ` until ${end}`}.`
  }
  const next = nextCommand(topic, state, id)
  if (next !== undefined) return `it waits for you: ${next}`
  return meanings[topic][state]?.words.startsWith('waiting ')
    ? 'it continues when the other side answers.'
    : 'the daemon continues.'
}

/** When an invitation ends, as it says itself; a plain one of a connection does not. */
function expiryOf(url = ''): string | undefined {
  try {
    const oob = new URL(url).searchParams.get('_oob') ?? ''
    const { expires_time: seconds } = JSON.parse(Buffer.from(oob, 'base64url').toString()) as {
      expires_time?: unknown
    }
    return typeof seconds === 'number' ? new Date(seconds * 1_000).toISOString() : undefined
  } catch {
    return undefined
  }
}
