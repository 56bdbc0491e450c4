/** Whether there is AnonCreds here: the operator may have turned it off, and the package with the library is optional. */
import type { Config } from '../base/config.ts'
import { Problem } from '../base/problem.ts'
import { isInstalled } from './library.ts'

const title = 'BadRequest_FeatureDisabled'

/** @throws {Problem} 400 `BadRequest` with the title `BadRequest_FeatureDisabled`. */
export function mustBeEnabled(
  { ENABLE_ANONCRED }: Pick<Config, 'ENABLE_ANONCRED'>,
  isThere = isInstalled,
): void {
  if (!ENABLE_ANONCRED)
    throw new Problem(
      'BadRequest',
      'AnonCreds is turned off here. The operator turns it on with ENABLE_ANONCRED=true.',
      { title },
    )
  if (!isThere())
    throw new Problem(
      'BadRequest',
      'AnonCreds needs the optional package @hyperledger/identus-sdk, which is not installed here. The operator installs it with npm ci --include=optional.',
      { title },
    )
}
