# shellcheck shell=bash
mt help
mt --help
mt tune --help
mt help worker
mt version
mt help show
note "every command's help fits 100 columns"
for command in $("$tool" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  "$tool" help "$command" >help.txt && sed 1q help.txt && awk -v command="$command" 'length > 100 { print command ", " length " columns: " $0 }' help.txt
done
