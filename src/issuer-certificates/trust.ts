/** Trust in certificates: a wallet trusts the roots of its own issuer certificates. */
import type { VerifyChain } from '../credentials/issuer-signature.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import type { Db } from '../storage/database.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { loadX509, readStoredChain } from './certificates.ts'
import type { SubjectName } from './model.ts'

/** Verifies certificates by the roots that the wallet trusts. */
export function createChainVerifier({ db }: Pick<Wallet, 'db'>): VerifyChain {
  return async (x5c, issuer) => {
    const { ChainError, verifyX5c } = await loadX509()
    try {
      const { publicKey, names } = verifyX5c(x5c, { anchors: await findRoots(db), at: new Date() })
      if (names.some((name) => isNameOf(name, issuer))) return publicKey
    } catch (cause) {
      if (!(cause instanceof ChainError)) throw cause
      throw new VerificationError('issuer-not-trusted', cause.message, { cause })
    }
    throw new VerificationError('issuer-not-trusted', `The certificate is not for the issuer ${issuer}`)
  }
}

/** Whether a certificate with the name may sign for `iss`: a URI is equal, and a DNS name is the host of an `https` URL. */
function isNameOf({ type, value }: SubjectName, issuer: string): boolean {
  if (type === 'uri') return value === issuer
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  return url?.protocol === 'https:' && url.hostname === value.toLowerCase()
}

/** The roots of the chains of a wallet, in PEM. */
async function findRoots(db: Db): Promise<string[]> {
  const chains = db.selectFrom('issuer_certificate').select('chain').where('chain', 'is not', null)
  const rows = await chains.$narrowType<{ chain: string }>().execute()
  const read = await Promise.all(rows.map(({ chain }) => readStoredChain(chain)))
  return [...new Set(read.flatMap(({ root }) => root ?? []))]
}
