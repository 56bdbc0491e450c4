/**
 * The credentials of a call, as headers: a key, or the token of `agent login`, which is renewed when it has
 * expired.
 */
import { CommandError } from '../errors/errors.ts'
import { type Login, readLogin, withLoginLock, writeLogin } from '../login/store.ts'
import type { Access } from './settings.ts'

/** A token that expires within this time is renewed first. */
const marginSeconds = 30

/**
 * The headers of a call. A key that a flag or a variable names comes first, then the token, then the key of
 * the profile. The administrator’s key of a profile comes before a token, which is usually a tenant’s.
 *
 * @throws {CommandError} 4 when the login has ended
 */
export async function authorize(access: Access, isAdministrators: boolean): Promise<Record<string, string>> {
  const { adminKey, apiKey, login, given } = access
  if (isAdministrators && adminKey) return { 'x-admin-api-key': adminKey.reveal() }
  if (login && !(given.apiKey && !isAdministrators)) return toHeaders(await renew(access, login))
  return apiKey && !isAdministrators ? { apikey: apiKey.reveal() } : {}
}

function toHeaders({ accessToken, walletId }: Login): Record<string, string> {
  return {
    authorization: `Bearer ${accessToken}`,
    ...(walletId !== undefined && { 'x-wallet-id': walletId }),
  }
}

function isFresh({ expiresAt }: Login): boolean {
  return expiresAt === undefined || expiresAt > Date.now() / 1_000 + marginSeconds
}

/** Returns the login with a token that has not expired. Processes renew one after the other. */
async function renew(access: Access, login: Login): Promise<Login> {
  if (isFresh(login)) return login
  const { configDir, profileName } = access
  return withLoginLock(configDir, profileName, async () => {
    // Another process may have renewed it meanwhile.
    const now = readLogin(configDir, profileName) ?? login
    access.login = now
    if (isFresh(now)) return now
    if (now.refreshToken === undefined)
      throw new CommandError(
        'The sign-in has expired, and the provider gave no refresh token.',
        4,
        'agent login',
      )
    const { refresh } = await import('../login/provider.ts')
    const renewed = { ...now, ...(await refresh(now, now.refreshToken)) }
    writeLogin(configDir, profileName, renewed)
    access.login = renewed
    return renewed
  })
}
