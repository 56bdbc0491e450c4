/** Taking an invitation that was pasted: to connect, to take a credential, or to prove. */
import type { Desk } from './action.ts'
import type { PaneName } from '../panes/pane.ts'
import { readInvitation, type Kind } from './invitation.ts'

const kinds: Record<
  Kind,
  { asks: string; take: (desk: Desk, invitation: string) => Promise<unknown>; pane: PaneName; done: string }
> = {
  connection: {
    asks: 'asks to connect',
    take: (desk, invitation) => desk.call('POST /connection-invitations', { body: { invitation } }),
    pane: 'connections',
    done: 'The invitation is accepted; the other side is being told.',
  },
  offer: {
    asks: 'offers a credential',
    take: (desk, invitation) =>
      desk.call('POST /issue-credentials/credential-offers/accept-invitation', { body: { invitation } }),
    pane: 'credentials',
    done: 'The offer is here: a accepts it.',
  },
  request: {
    asks: 'asks for a proof',
    take: (desk, invitation) =>
      desk.call('POST /present-proof/presentations/accept-invitation', { body: { invitation } }),
    pane: 'proofs',
    done: 'The request is here: p presents.',
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
  const lines = [goal === undefined ? 'It does not say what for.' : `It says: “${goal}”`]
  if (!(await desk.confirm(`The invitation ${asks}. Accept it?`, lines))) return undefined
  desk.say('Taking the invitation …')
  await take(desk, oob)
  desk.goTo(pane)
  return done
}
