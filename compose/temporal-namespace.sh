#!/bin/sh
# The namespace, and the search attributes that Parley lists its calls by. Repeatable.
set -eu

until temporal operator cluster health; do sleep 1; done

temporal operator namespace describe -n default || temporal operator namespace create -n default --retention 7d

for attribute in \
  ParleyTenant=Keyword ParleyServer=Keyword ParleyMethod=Keyword ParleyName=Keyword \
  ParleyStatus=Keyword ParleyOutcome=Keyword ParleyDeadline=Datetime; do
  name=${attribute%=*}
  temporal operator search-attribute list -n default | grep -qw "$name" ||
    temporal operator search-attribute create -n default --name "$name" --type "${attribute#*=}"
done
