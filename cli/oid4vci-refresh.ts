/** `agent oid4vc refresh`: a new credential in place of one that the wallet has. */
import * as Flags from '@oclif/core/flags'
import { ProblemError } from '../daemon/client/client.ts'
import type { Answer } from './client/api.ts'
import type { Context, FlagValues } from './define-command.ts'
import { CommandError } from './errors/errors.ts'
import { credentialFields } from './format/records.ts'
import { safeLine } from './format/text.ts'
import { readTimeout } from './input/time.ts'
import { receiveFlags, take } from './oid4vci-receive.ts'

const route = 'POST /issue-credentials/records/{recordId}/refresh'
type Renewed = Answer<typeof route>

const { copies, certificate, 'client-id': clientId, open } = receiveFlags

export const refreshFlags = {
  copies,
  'client-id': clientId,
  certificate,
  open,
  timeout: Flags.string({
    description: 'how long to wait for the issuer and for your consent: 30s, 10m, 2h; default: 5m',
  }),
}

type RefreshContext = Context<{ id: string }, Partial<FlagValues<typeof refreshFlags>>>

/**
 * Renews a credential with the refresh token of its issuer, or else with the person. The new credential then
 * has a record of its own, and the older one is removed.
 *
 * @throws {CommandError} 5 if the issuer refuses; 6 when the time is over
 */
export async function refreshCredential(context: RefreshContext): Promise<Renewed> {
  const { call, args, flags, say } = context
  readTimeout(flags)
  const path = { recordId: args.id }
  try {
    const record = await renew(context, () => call(route, { path, body: { copies: flags.copies } }))
    const { state, reason } = record.openid4vci!.renewal!
    if (state !== 'needs-you') {
      const isRenewed = reason === undefined
      if (!isRenewed) throw new CommandError(safeLine(reason), 5, `agent credential show ${args.id}`)
      context.print(record.recordId, credentialFields(record))
      context.suggest(`agent credential show ${record.recordId}`)
      return record
    }
    say(safeLine(reason ?? ''))
  } catch (error) {
    if (!(error instanceof ProblemError && error.problem.status === 409)) throw error
  }
  return receiveAgain(context, await call('GET /issue-credentials/records/{recordId}', { path }))
}

/** Begins a renewal, and waits for its end. The event stream is opened before, so that no event is missed. */
async function renew(
  { call, args, flags, openEvents }: RefreshContext,
  begin: () => Promise<Renewed>,
): Promise<Renewed> {
  const closing = new AbortController()
  const timer = setTimeout(() => closing.abort(), readTimeout(flags))
  const read = () => call('GET /issue-credentials/records/{recordId}', { path: { recordId: args.id } })
  const isOver = ({ openid4vci }: Renewed) => openid4vci?.renewal?.state !== 'running'
  try {
    const events = await openEvents({ type: 'IssueCredentialRecordUpdated' }, { signal: closing.signal })
    const begun = await begin()
    if (isOver(begun)) return begun
    for await (const { data } of events) {
      if (data['recordId'] !== begun.recordId) continue
      const record = await read()
      if (isOver(record)) return record
    }
    throw new CommandError(
      'Timed out: the issuer has not given the new credential yet. The daemon continues.',
      6,
      `agent credential show ${begun.recordId}`,
    )
  } finally {
    clearTimeout(timer)
    closing.abort()
  }
}

/** The second way: the person consents once more. The older credential is removed afterwards. */
async function receiveAgain(context: RefreshContext, { recordId, openid4vci }: Renewed): Promise<Renewed> {
  const { call, flags } = context
  const { credentialIssuer, credentialConfigurationId, grant, copies: usual } = openid4vci!
  if (grant !== 'authorization_code')
    throw new CommandError(
      'Only the issuer can renew it: ask for a new offer, receive it, and remove this credential.',
      5,
      'agent oid4vc receive <offer>',
    )
  const offered = await call('POST /issue-credentials/records/openid4vci', {
    body: {
      credentialIssuer,
      credentialConfigurationIds: [credentialConfigurationId],
      grant,
      clientId: flags['client-id'],
      copies: flags.copies ?? usual,
      attestationCertificateId: flags.certificate,
    },
  })
  const received = await take(context, offered)
  await call('DELETE /issue-credentials/records/{recordId}', { path: { recordId } })
  return received
}
