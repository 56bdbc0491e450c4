/** Who may publish in the registries: a DID of the caller's wallet. */
import { Problem } from '../base/problem.ts'

/** @throws {Problem} 400 for what is no did:prism or did:web, 404 for one that `owns` does not know. */
export async function mustBeAuthor(author: string, owns: (did: string) => Promise<boolean>): Promise<void> {
  mustBeDid(author)
  if (!(await owns(author))) {
    throw new Problem(
      'NotFound',
      `author: the wallet has no DID ${author}. Create one with POST /did-registrar/dids.`,
    )
  }
}

/** @throws {Problem} 400 */
export function mustBeDid(author: string): void {
  if (/^did:(prism:[0-9a-f]{64}(:[A-Za-z0-9_-]+)?$|web:)/.test(author)) return
  throw new Problem(
    'BadRequest',
    `author: must be a did:prism or did:web of this wallet; ${author} is neither.`,
  )
}
