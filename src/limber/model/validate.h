// Everything that can be wrong with the parts of a model, found in one go. Internal to model/.
#pragma once

#include <vector>

#include "limber/model/model.h"

namespace limber {

std::vector<Problem> find_problems(const ModelParts& parts);

// Of laws beyond plain springs and dampers (validate_laws.cpp).
void find_law_problems(const char* kind, const std::string& name, JointKind joint, const JointLaw& law,
                       std::vector<Problem>& out);
void find_law_problems(const Spring& spring, std::vector<Problem>& out);
void find_law_problems(const Coupling& coupling, std::vector<Problem>& out);  // a cam
void find_cable_problems(const ModelParts& parts, std::vector<Problem>& out);
void find_contact_problems(const ModelParts& parts, std::vector<Problem>& out);
void find_cable_problems(const Probe& probe, const ModelParts& parts, std::vector<Problem>& out);
void find_law_problems(const Bushing& bushing, int bodies, std::vector<Problem>& out);

// Of controllers and events, where all that they name is right (validate_controls.cpp).
void find_control_problems(const ModelParts& parts, std::vector<Problem>& problems);

}  // namespace limber
