/** The content of the pages of an issuer: its name and its credentials, in the language of the reader. */
import { chooseByLocale } from '../../foundation/locale.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { findCard } from './card.ts'
import { claimsOf } from './claims.ts'
import { settingsOf } from './configuration-settings.ts'
import { type ConfigurationRow, findConfiguration } from './configurations.ts'
import { credentialDisplayOf, issuerDisplayOf } from './display.ts'
import type { IssuerRow } from './issuers.ts'

/** The claims have no values: the wallet shows them. */
export type ShownCredential = {
  name: string
  claims: string[]
  /** The `data:` URL of a picture. */
  card: string | undefined
}

/** The display name of the issuer, and its credentials. */
export type PageContent = { issuerName: string | undefined; credentials: ShownCredential[] }
export type InLanguage = (language: string) => Promise<PageContent>

/** Configurations with all their claims. One that was removed since has its id as name. */
export function showOffer(env: Wallet['env'], issuer: IssuerRow, configurationIds: string[]): InLanguage {
  return async (language) => {
    const issuerName = issuerNameOf(issuer, language)
    const credentials: ShownCredential[] = []
    for (const id of configurationIds) {
      const row = await findConfiguration(env.db, issuer.id, id)
      if (!row) credentials.push({ name: id, claims: [], card: undefined })
      else {
        const names = claimsOf(row).map(({ name }) => name)
        credentials.push(await showCredential(env, row, { names, language, issuerName }))
      }
    }
    return { issuerName, credentials }
  }
}

export function issuerNameOf(issuer: IssuerRow, language: string): string | undefined {
  return chooseByLocale(issuerDisplayOf(issuer) ?? [], [language])?.name
}

type Reader = { language: string; issuerName: string | undefined }

/** The display names of a credential and of the claims `names`. */
export async function showCredential(
  { db, urls }: Wallet['env'],
  row: ConfigurationRow,
  { names, language, issuerName }: Reader & { names: readonly string[] },
): Promise<ShownCredential> {
  const display = chooseByLocale(credentialDisplayOf(row) ?? [], [language])
  const titles = new Map(claimsOf(row).map(({ name, title }) => [name, title]))
  const labels = new Map(
    settingsOf(row).claims?.map(({ path, labels: named = {} }) => {
      const entries = Object.entries(named).map(([locale, label]) => ({ locale, label }))
      return [path.length === 1 ? path[0] : undefined, chooseByLocale(entries, [language])?.label]
    }),
  )
  return {
    name: display?.name ?? row.id,
    claims: names.map((name) => labels.get(name) ?? titles.get(name) ?? name),
    card: await findCard(db, urls.rest, row, { language, issuer: issuerName }),
  }
}
