/** Checks that the schemas of documents require the elements that the standard of their type requires. */
import { getTemplate, templateNames } from '../../definitions/templates/index.ts'
import { claimsOf } from '../../exchange/oid4vci/claims.ts'
import { documentOf } from '../../exchange/oid4vci/documents.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { Finding } from './check.ts'

/** Looks at the credential configurations of all wallets. Names the first fault. */
export async function checkDocumentElements(db: AgentDb): Promise<Finding> {
  const documents = db
    .selectFrom('credential_configuration')
    .select(['issuer_id', 'id', 'document', 'claims'])
    .where('document', 'is not', null)
  for (const row of await documents.orderBy('created_at').orderBy('id').execute()) {
    const { docType } = documentOf(row)!
    const name = templateNames.find((each) => getTemplate(each).document?.docType === docType)
    if (!name) continue
    const { document, schema } = getTemplate(name)
    const required = claimsOf(row).filter(
      (claim) => claim.mandatory && claim.namespace === document!.namespace,
    )
    const missing = schema.required.filter((element) => !required.some((claim) => claim.name === element))
    if (missing.length > 0)
      return {
        status: 'warning',
        detail: `The schema of the configuration ${row.id} of the OpenID4VCI issuer ${row.issuer_id} does not require ${missing.join(', ')}, and verifiers expect them in each ${docType}.`,
        hint: `agent template show ${name}   # a schema with all of them; add a configuration with it`,
      }
  }
  return { status: 'ok', detail: 'The documents of OpenID4VCI issuers have the elements of their types.' }
}
