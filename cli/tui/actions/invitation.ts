/** Invitations: showing one, and accepting a pasted one. */
import { UsageError } from '../../errors/errors.ts'
import type { Desk } from './action.ts'
import type { PaneName } from '../panes/pane.ts'

export type Kind = 'connection' | 'offer' | 'request'

/** Parses a pasted invitation. @throws {UsageError} for other texts */
export function readInvitation(text: string): { kind: Kind; oob: string; goal: string | undefined } {
  // A paste from a terminal may contain line breaks.
  const given = text.replaceAll(/\s+/g, '')
  const oob = decode(/(?:^|[?&])_oob=([^&#]*)/.exec(given)?.[1] ?? given)
  const { body, attachments } = parse(oob)
  const type = JSON.stringify(attachments ?? [])
  const kind = type.includes('issue-credential')
    ? 'offer'
    : type.includes('present-proof')
      ? 'request'
      : 'connection'
  return { kind, oob, goal: typeof body?.goal === 'string' ? body.goal : undefined }
}

type Said = { body?: { goal?: unknown } | null; attachments?: unknown[] }

function parse(oob: string): Said {
  try {
    const said: unknown = JSON.parse(Buffer.from(oob, 'base64url').toString())
    if (typeof said === 'object' && said !== null) return said
  } catch {
    // Reported below.
  }
  throw new UsageError(
    'This is not an invitation. Paste the whole URL with its _oob parameter, or the value of that parameter.',
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const kinds: Record<
  Kind,
  { asks: string; take: (desk: Desk, invitation: string) => Promise<unknown>; pane: PaneName; done: string }
> = {
  connection: {
    asks: 'asks to connect',
    take: (desk, invitation) => desk.call('POST /connection-invitations', { body: { invitation } }),
    pane: 'connections',
    done: 'The invitation is accepted. The request is on its way to the other side.',
  },
  offer: {
    asks: 'offers a credential',
    take: (desk, invitation) =>
      desk.call('POST /issue-credentials/credential-offers/accept-invitation', { body: { invitation } }),
    pane: 'credentials',
    done: 'The offer has arrived: a accepts it.',
  },
  request: {
    asks: 'asks for a proof',
    take: (desk, invitation) =>
      desk.call('POST /present-proof/presentations/accept-invitation', { body: { invitation } }),
    pane: 'proofs',
    done: 'The request has arrived: p presents.',
  },
}

export async function takeInvitation(desk: Desk, pasted = ''): Promise<string | undefined> {
  const fields = [
    {
      name: 'invitation',
      label: 'invitation',
      value: pasted,
      hint: 'paste its URL, or the value of its _oob parameter',
    },
  ]
  const said = await desk.fill('Accept an invitation', fields, {
    check: ({ invitation = '' }) => readInvitation(invitation),
  })
  if (!said) return undefined
  const { kind, oob, goal } = readInvitation(said.invitation ?? '')
  const { asks, take, pane, done } = kinds[kind]
  const lines = [goal === undefined ? 'It names no purpose.' : `Purpose: “${goal}”`]
  if (!(await desk.confirm(`The invitation ${asks}. Accept it?`, lines))) return undefined
  desk.say('Accepting the invitation …')
  await take(desk, oob)
  desk.goTo(pane)
  return done
}
