/** Offering a credential. */
import { UsageError } from '../../commands/_errors/usage.ts'
import { readClaims } from '../../commands/_input/claims.ts'
import type { Desk } from './action.ts'
import { showOffer } from './credential.ts'
import { chooseIssuer } from './own-dids.ts'
import { choosePartner } from './partner.ts'

const formats = { JWT: 'JWT', 'SD-JWT': 'SDJWT' } as const

export async function offer(desk: Desk): Promise<string | undefined> {
  const partner = await choosePartner(desk, 'To whom do you offer a credential?')
  const issuer = partner && (await chooseIssuer(desk))
  if (!issuer) return undefined
  const said = await desk.fill(
    'What does the credential say?',
    [
      { name: 'format', label: 'format', value: 'JWT', words: Object.keys(formats) },
      { name: 'issue', label: 'issue', value: 'when I press i', words: ['when I press i', 'as soon as the offer is accepted'] },
      { name: 'claim', label: 'claim', value: '', hint: 'name=Alice, or age:=42 for JSON', many: true },
    ],
    { note: 'Of an SD-JWT, the holder shows claims of its choice.', check: toClaims },
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
  await desk.until('the offer is in the list', ({ credentials }) => credentials.some(({ recordId }) => recordId === made.recordId))
  desk.goTo('credentials')
  await showOffer(desk, made)
  return 'The invitation is made: whoever answers it first gets the credential.'
}

/** The claims of the form. @throws {UsageError} when there is none, or one cannot be read. */
function toClaims(said: Readonly<Record<string, string>>) {
  const claim = Object.entries(said).flatMap(([name, value]) => (name.startsWith('claim') && value !== '' ? [value] : []))
  if (claim.length === 0) throw new UsageError('There is nothing to attest to: write a claim.')
  return readClaims({ claim })
}
