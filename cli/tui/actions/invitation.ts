/** Answering a pasted link or text of any kind. The daemon recognises it. */
import type { Answer } from '../../client/api.ts'
import type { ActionContext } from './action.ts'
import { UsageError } from '../../errors/errors.ts'
import { receiveLink } from './openid.ts'
import type { PaneName } from '../panes/pane.ts'

type Incoming = Answer<'POST /invitation'>

const kinds: Record<
  'connection' | 'offer' | 'request',
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

/** A paste from a terminal may contain line breaks. Those of JSON do not matter. */
function withoutBreaks(text: string): string {
  return /^\s*\{/.test(text) ? text : text.replaceAll(/\s+/g, '')
}

/** @throws {UsageError} for a text that is neither a URL, nor JSON, nor base64 of JSON */
function checkForm(text: string): void {
  if (/^(?:[a-z][a-z0-9+.-]+:|\{|(?:_oob=)?e[wy][\w+/-]{10})/i.test(text)) return
  throw new UsageError(
    'This is not an invitation. Paste the whole URL with its _oob or _oobid parameter, or the value of _oob.',
  )
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
  const values = await context.fill('Accept an invitation, an offer or a request', fields, {
    check: ({ invitation = '' }) => checkForm(withoutBreaks(invitation)),
  })
  if (!values) return undefined
  context.say('Reading the invitation …')
  const invitation = withoutBreaks(values.invitation ?? '')
  const incoming: Incoming = await context.call('POST /invitation', { body: { invitation } })
  const { purpose, answer, oob, goal } = incoming
  if (purpose === 'did-request' || purpose === 'challenge')
    throw new UsageError(
      `This is a ${purpose === 'challenge' ? 'challenge' : 'DID request'}. Answer it with: agent accept`,
    )
  if (purpose === 'openid4vci-offer')
    return receiveLink(context, 'offer', answer.body['credentialOffer'] as string)
  if (purpose === 'openid4vp-request')
    return receiveLink(context, 'request', answer.body['authorizationRequest'] as string)
  const { asks, accept, pane, done } = kinds[purpose]
  const lines = [goal === undefined ? 'It names no purpose.' : `Purpose: “${goal}”`]
  if (!(await context.confirm(`The invitation ${asks}. Accept it?`, lines))) return undefined
  context.say('Accepting the invitation …')
  await accept(context, oob!)
  context.goTo(pane)
  return done
}
