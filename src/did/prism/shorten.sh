#!/bin/sh
# Removes from the generated prism_pb.ts what repeats prism.proto: its comments, and the schemas that no code reads.
cd "$(dirname "$0")" || exit
read='AtalaObject|AtalaOperation|SignedAtalaOperation|PublicKey|UpdateDIDAction|DIDData'
perl -0pi -e '
  s{^ */\*\*.*?\*/\n}{}gms;
  s/([;,])\n\n(?=  )/$1\n/g;
  s/\{\s+value: (\w+);\s+case: ("\w+");\s+\}/{ case: $2; value: $1 }/g;
  s/^export const (?!(?:'"$read"')Schema)\w+Schema\b[^;]*;\n+//gm;
  s/\bGenEnum, |\benumDesc, //g;
' prism_pb.ts
npx prettier --ignore-path /dev/null --write prism_pb.ts
