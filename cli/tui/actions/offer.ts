/** Offering a credential. */
import { UsageError } from '../../errors/errors.ts'
import { readClaims } from '../../input/claims.ts'
import type { Desk } from './action.ts'
import { showOffer } from './credential.ts'
import { chooseIssuer } from './own-dids.ts'
import { choosePartner } from './partner.ts'

const formats = { JWT: 'JWT', 'SD-JWT': 'SDJWT' } as const

export async function offer(desk: Desk): Promise<string | undefined> {
  const partner = await choosePartner(desk, 'Offer a credential: over which connection?')
  const issuer = partner && (await chooseIssuer(desk))
  if (!issuer) return undefined
  const said = await desk.fill(
    'Claims of the credential',
    [
      { name: 'format', label: 'format', value: 'JWT', words: Object.keys(formats) },
      {
        name: 'issue',
        label: 'issue',
        value: 'when I press i',
        words: ['when I press i', 'as soon as the offer is accepted'],
      },
      { name: 'claim', label: 'claim', value: '', hint: 'name=Alice, or age:=42 for JSON', many: true },
    ],
    { start: 'claim', note: 'The holder of an SD-JWT chooses which claims it shows.', check: toClaims },
  )
  if (!said) return undefined
  const body = {
    issuingDID: issuer.did,
    claims: toClaims(said),
    credentialFormat: formats[said.format as keyof typeof formats],
    automaticIssuance: said.issue !== 'when I press i',
  }
  desk.say('Offering …')
  const { connectionId } = partner
  if (connectionId !== null) {
    await desk.call('POST /issue-credentials/credential-offers', { body: { ...body, connectionId } })
    desk.goTo('credentials')
    return 'The offer is on its way to the holder.'
  }
  const made = await desk.call('POST /issue-credentials/credential-offers/invitation', { body })
  await desk.until('the offer is in the list', ({ credentials }) =>
    credentials.some(({ recordId }) => recordId === made.recordId),
  )
  desk.goTo('credentials')
  await showOffer(desk, made)
  return 'The invitation is made. The first agent that answers it gets the offer.'
}

/** The claims of the form. @throws {UsageError} when there is none, or one cannot be read. */
function toClaims(said: Readonly<Record<string, string>>) {
  const claim = Object.entries(said).flatMap(([name, value]) =>
    name.startsWith('claim') && value !== '' ? [value] : [],
  )
  if (claim.length === 0) throw new UsageError('A credential needs a claim: write one, such as name=Alice.')
  try {
    return readClaims({ claim })
  } catch (error) {
    // In a form there are no flags.
    throw new UsageError((error as Error).message.replace('--claim', 'claim'))
  }
}
