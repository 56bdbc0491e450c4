/** Accepting a pasted invitation, of its long or its short URL. */
import { UsageError } from '../../errors/errors.ts'
import { isShortUrl } from '../../input/invitation.ts'
import { openIdLinkKind } from '../../qr/link.ts'
import type { ActionContext } from './action.ts'
import { receiveLink } from './openid.ts'
import type { PaneName } from '../panes/pane.ts'

export type Kind = 'connection' | 'offer' | 'request'

/** Parses a pasted invitation. @throws {UsageError} for other texts */
export function readInvitation(text: string): { kind: Kind; oob: string; goal: string | undefined } {
  const given = withoutBreaks(text)
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

/**
 * Reads what the short URL returns; the daemon retrieves it.
 *
 * @throws {UsageError} for a DID request or a challenge
 */
async function retrieve({ call }: ActionContext, url: string): Promise<ReturnType<typeof readInvitation>> {
  const { purpose, oob, invitation } = await call('POST /invitation', { body: { invitation: url } })
  if (purpose === 'did-request')
    throw new UsageError(`This is a DID request. Answer it with: agent onboard submit "${url}" --new`)
  if (purpose === 'challenge')
    throw new UsageError(`This is a challenge. Answer it with: agent signin respond "${url}" --did …`)
  return { kind: purpose, oob: oob!, goal: invitation?.body?.goal }
}

/** A paste from a terminal may contain line breaks. */
function withoutBreaks(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

type Invitation = { body?: { goal?: unknown } | null; attachments?: unknown[] }

function parse(oob: string): Invitation {
  try {
    const invitation: unknown = JSON.parse(Buffer.from(oob, 'base64url').toString())
    if (typeof invitation === 'object' && invitation !== null) return invitation
  } catch {
    // Reported below.
  }
  throw new UsageError(
    'This is not an invitation. Paste the whole URL with its _oob or _oobid parameter, or the value of _oob.',
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
  {
    asks: string
    accept: (context: ActionContext, invitation: string) => Promise<unknown>
    pane: PaneName
    done: string
  }
> = {
  connection: {
    asks: 'asks to connect',
    accept: (context, invitation) => context.call('POST /connection-invitations', { body: { invitation } }),
    pane: 'connections',
    done: 'The invitation is accepted. The request is on its way to the other side.',
  },
  offer: {
    asks: 'offers a credential',
    accept: (context, invitation) =>
      context.call('POST /issue-credentials/credential-offers/accept-invitation', { body: { invitation } }),
    pane: 'credentials',
    done: 'The offer has arrived: a accepts it.',
  },
  request: {
    asks: 'asks for a proof',
    accept: (context, invitation) =>
      context.call('POST /present-proof/presentations/accept-invitation', { body: { invitation } }),
    pane: 'proofs',
    done: 'The request has arrived: p presents.',
  },
}

export async function acceptInvitation(context: ActionContext, pasted = ''): Promise<string | undefined> {
  const fields = [
    {
      name: 'invitation',
      label: 'invitation',
      value: pasted,
      hint: 'paste its URL: of an invitation, an OpenID4VC offer or request',
    },
  ]
  const values = await context.fill('Accept an invitation', fields, {
    check: ({ invitation = '' }) =>
      isShortUrl(withoutBreaks(invitation)) ||
      openIdLinkKind(withoutBreaks(invitation)) ||
      readInvitation(invitation),
  })
  if (!values) return undefined
  const given = withoutBreaks(values.invitation ?? '')
  const kind = openIdLinkKind(given)
  return kind ? receiveLink(context, kind, given) : acceptOverDidComm(context, given)
}

async function acceptOverDidComm(context: ActionContext, given: string): Promise<string | undefined> {
  const isShort = isShortUrl(given)
  if (isShort) context.say('Retrieving the invitation …')
  const { kind, oob, goal } = isShort ? await retrieve(context, given) : readInvitation(given)
  const { asks, accept, pane, done } = kinds[kind]
  const lines = [goal === undefined ? 'It names no purpose.' : `Purpose: “${goal}”`]
  if (!(await context.confirm(`The invitation ${asks}. Accept it?`, lines))) return undefined
  context.say('Accepting the invitation …')
  await accept(context, oob)
  context.goTo(pane)
  return done
}
